#include "process_test.hpp"

namespace rowlock::test {

namespace {

// The database's clock is the same in every time zone: clients that connect before and after a change of zone agree.
class time_zone_test : public own_server_test {};

TEST_P(time_zone_test, may_change_beside_living_leases) {
  auto brief = settings();
  brief.ttl = 6s;
  auto mortal = settings();
  mortal.ttl = 2s;
  for (const auto* zone : {"+09:00", "-09:00"}) {
    SCOPED_TRACE(zone);
    worker holder{brief};
    holder.acquire("nightly");
    worker dead{mortal};
    const auto lost = dead.acquire("weekly");
    dead.kill();
    // Sets the zone of every later connection.
    sql().run(in_dialect("ALTER ROLE ALL SET timezone = '", "SET GLOBAL time_zone = '") + zone + "'");
    auto other = start();
    EXPECT_EQ(other.ask("try nightly"), "busy");
    // The holder renews its lease meanwhile.
    EXPECT_EQ(other.ask("try_for nightly " + std::to_string((brief.ttl / 3 + 500ms).count())), "busy");
    EXPECT_EQ(holder.ask("state"), "valid none");
    other.tell("acquire weekly");
    EXPECT_GT(other.grant(slack).token, lost.token) << "the dead have a successor in time";
    EXPECT_EQ(other.ask("release"), "released");
    EXPECT_EQ(holder.ask("release"), "released");
  }
}

ROWLOCK_FOR_EACH_SERVER(time_zone_test);

}  // namespace

}  // namespace rowlock::test
