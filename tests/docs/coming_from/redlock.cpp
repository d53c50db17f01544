// The rows of docs/coming-from/redlock.md.
#include "docs/coming_from/coming_from.hpp"

namespace rowlock::test {

TEST_P(coming_from_test, redlock_one_server) {
  rowlock::mutex report{db, "report"};
  rowlock::mutex elsewhere{other, "report"};
  {
    auto held = report.try_acquire({.ttl = 30s});
    EXPECT_FALSE(elsewhere.try_acquire());
    rowlock::hold_id value = held.id();
    EXPECT_FALSE(value.is_nil());
    auto left = held.remaining();
    EXPECT_GT(left, 20s);
    rowlock::fencing_token token = held.token();
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
    EXPECT_GT(elsewhere.acquire().token(), token);
  }
  {
    auto held = report.acquire();
    const auto before = db.stats().renewals;
    eventually("it is renewed", [&] { return db.stats().renewals > before; });
    EXPECT_TRUE(held);
    rowlock::admin{other}.release("report");
    eventually("the holder knows", [&] { return !held.valid(); });
    auto result = held.release();
    EXPECT_EQ(result, release_result::lost);
  }
  auto expired = report.try_acquire({.ttl = 100ms});
  auto held = elsewhere.try_acquire_for(20s);
  EXPECT_TRUE(held) << "its lease has expired";
  EXPECT_FALSE(expired);
}

TEST_P(coming_from_test, redlock_several_servers) {
  const auto second = make_store_fixture(GetParam());
  const auto third = make_store_fixture(GetParam());
  // A member may take a fiftieth of this to answer. A busy machine pauses for longer than a fiftieth of the default.
  options patient;
  patient.ttl = 300s;
  const client db1 = new_client(patient);
  const client db2 = new_client(*second, patient);
  const client db3 = new_client(*third, patient);
  rowlock::quorum_mutex global{{db1, db2, db3}, "global"};
  rowlock::quorum_mutex elsewhere{
      {new_client(patient), new_client(*second, patient), new_client(*third, patient)}, "global"};
  {
    auto held = global.try_acquire({.ttl = 60s});
    EXPECT_TRUE(held);
    EXPECT_FALSE(elsewhere.try_acquire());
    auto left = held.remaining();
    EXPECT_LE(left, 60s);
    std::string resource = held.name();
    EXPECT_EQ(resource, "global");
    rowlock::hold_id value = held.member_hold(0).id();
    EXPECT_FALSE(value.is_nil());
    rowlock::fencing_token token = held.token();
    auto result = held.release();
    EXPECT_EQ(result, release_result::released);
    EXPECT_GT(elsewhere.acquire().token(), token);
  }
  {
    auto held = global.acquire();
    EXPECT_TRUE(held);
  }
  {
    auto held = global.try_acquire_for(5s);
    EXPECT_TRUE(held);
  }
  rowlock::quorum_mutex exact{{db1, db2, db3}, "exact", {.member_timeout = 1s, .drift = 100ms}};
  EXPECT_TRUE(exact.try_acquire_for(20s));
  rowlock::quorum_mutex two{{db1, db2}, "global", {.members = 3}};
  EXPECT_TRUE(two.try_acquire_for(20s));
}

}  // namespace rowlock::test
