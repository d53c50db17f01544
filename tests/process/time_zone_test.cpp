#include "process_test.hpp"

namespace rowlock::test {

namespace {

// The database's clock is the same in every time zone: clients that connect before and after a change of zone agree.
class time_zone_test : public own_server_test {};

TEST_P(time_zone_test, may_change_beside_living_leases) {
  for (const auto* zone : {"+09:00", "-09:00"}) {
    SCOPED_TRACE(zone);
    auto holder = start();
    const auto held = holder.acquire("nightly");
    // Sets the zone of every later connection.
    sql().run(in_dialect("ALTER ROLE ALL SET timezone = '", "SET GLOBAL time_zone = '") + zone + "'");
    auto other = start();
    EXPECT_EQ(other.ask("try nightly"), "busy");
    EXPECT_EQ(other.ask("try_for nightly " + std::to_string(settings().ttl.count() + 500)), "busy");
    EXPECT_EQ(holder.ask("state"), "valid none");
    holder.kill();
    other.tell("acquire nightly");
    EXPECT_GT(other.grant(settings().ttl + slack).token, held.token) << "the dead have a successor in time";
    EXPECT_EQ(other.ask("release"), "released");
  }
}

ROWLOCK_FOR_EACH_SERVER(time_zone_test);

}  // namespace

}  // namespace rowlock::test
