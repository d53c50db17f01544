#include "contract/contract_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class database_state_test : public contract_test {
 protected:
  std::chrono::microseconds expires_in(const std::string& name) {
    return view(name).holder.value().expires_in;
  }
};

TEST_P(database_state_test, is_complete_once_refreshed) {
  const auto now = a->read_database_state();
  EXPECT_FALSE(now.identity.empty());
  EXPECT_EQ(now.identity, now.recorded_identity);
  EXPECT_FALSE(now.marker.empty());
  EXPECT_GT(now.epoch, 0);
}

TEST_P(database_state_test, is_the_same_to_every_session) {
  EXPECT_EQ(a->read_database_state(), b->read_database_state());
  EXPECT_EQ(connect()->read_database_state(), b->read_database_state());
  EXPECT_EQ(a->renew({}).database_state, b->read_database_state());
}

TEST_P(database_state_test, refreshed_again_does_not_change) {
  const auto before = a->read_database_state();
  EXPECT_EQ(a->record_database_state(), before);
  EXPECT_EQ(b->record_database_state(), before);
  EXPECT_EQ(b->read_database_state(), before);
}

TEST_P(database_state_test, read_writes_nothing) {
  fixture().lose_marker();
  fixture().change_identity();
  const auto before = a->read_database_state();
  EXPECT_TRUE(before.marker.empty());
  EXPECT_NE(before.identity, before.recorded_identity);
  EXPECT_EQ(b->read_database_state(), before);
  EXPECT_EQ(b->renew({}).database_state, before);
}

TEST_P(database_state_test, shows_every_renewal_that_the_marker_was_lost) {
  const auto lease = new_lease();
  const auto before = a->read_database_state();
  fixture().lose_marker();
  const auto reply = a->renew(std::vector{lease});
  EXPECT_EQ(reply.renewed.size(), 1U) << "a lost marker ends no lease";
  EXPECT_TRUE(reply.database_state.marker.empty());
  EXPECT_EQ(reply.database_state.epoch, before.epoch);
}

TEST_P(database_state_test, gets_a_new_marker_when_it_was_lost) {
  const auto before = a->read_database_state();
  fixture().lose_marker();
  const auto after = b->record_database_state();
  EXPECT_FALSE(after.marker.empty());
  EXPECT_NE(after.marker, before.marker);
  EXPECT_EQ(after.epoch, before.epoch) << "the same server: its tokens are not lost";
  EXPECT_EQ(a->read_database_state(), after);
}

TEST_P(database_state_test, refreshed_by_several_at_once_changes_once) {
  const auto before = a->read_database_state();
  fixture().lose_marker();
  fixture().change_identity();
  auto rival = in_background([&] { return a->record_database_state(); });
  const auto two = b->record_database_state();
  const auto one = rival.get();
  EXPECT_EQ(one, two);
  EXPECT_EQ(two, a->read_database_state());
  EXPECT_GT(two.epoch, before.epoch);
}

TEST_P(database_state_test, records_a_new_identity_with_a_new_epoch) {
  const auto before = a->read_database_state();
  fixture().change_identity();
  EXPECT_NE(a->read_database_state().identity, a->read_database_state().recorded_identity);
  const auto after = a->record_database_state();
  EXPECT_EQ(after.identity, after.recorded_identity);
  EXPECT_GT(after.epoch, before.epoch);
}

// Nobody knows how far the new clock is ahead or behind. A living holder renews within its own ttl. The ttls of other
// leases must not count: one lease of a day would keep the locks of every dead holder for a day.
TEST_P(database_state_test, lets_every_lease_expire_its_own_ttl_from_now_on_a_new_identity) {
  const auto lasting = new_lease(24h);
  const auto one = held("a");
  for (const auto ahead : {2h, -2h}) {
    fixture().expire(lasting, ahead - 24h);
    fixture().expire(one.lease, ahead - 30s);
    fixture().change_identity();
    a->record_database_state();
    EXPECT_GT(expires_in("a"), 15s);
    EXPECT_LE(expires_in("a"), 30s);
  }
  fixture().expire(one.lease, -1s);
  a->record_database_state();
  EXPECT_LE(expires_in("a"), 1s) << "once";
}

// After a restore, a lease whose process died long before would otherwise block its locks for its whole ttl again.
TEST_P(database_state_test, revives_no_lease_that_expired_a_day_ago_on_a_new_identity) {
  const auto last = held("a");
  fixture().expire(last.lease, 25h);
  fixture().change_identity();
  a->record_database_state();
  EXPECT_LT(expires_in("a"), -24h);
}

// The first client that renews at a new server writes an expiry of the new clock. That expiry says nothing about the
// other leases, whose clients have yet to renew there.
TEST_P(database_state_test, lengthens_what_had_expired_before_another_was_renewed_at_a_new_identity) {
  const auto slow = held("a");
  const auto quick = new_lease();
  fixture().expire(slow.lease, 10s);  // by the new clock, which is ahead
  fixture().change_identity();
  ASSERT_TRUE(renew(quick));
  a->record_database_state();
  EXPECT_GT(expires_in("a"), 15s);
}

// The new server's clock may be ahead of the clock that wrote the lease's expiry.
TEST_P(database_state_test, nobody_is_killed_before_a_new_identity_is_recorded) {
  const auto one = new_lease();
  const auto other = new_lease();
  for (const auto& lease : {one, other}) fixture().expire(lease, 2h);
  fixture().change_identity();
  EXPECT_THAT(a->kill(std::vector{one}, 0us), testing::IsEmpty());
  EXPECT_THAT(a->kill(std::vector{one, other}, 0us), testing::IsEmpty());
  a->record_database_state();
  EXPECT_THAT(b->kill(std::vector{one, other}, 0us), testing::IsEmpty()) << "they have time to renew";
  for (const auto& lease : {one, other}) fixture().expire(lease, 2h);
  EXPECT_EQ(b->kill(std::vector{one, other}, 0us).size(), 2U);
}

TEST_P(database_state_test, shows_everybody_the_stored_skew) {
  EXPECT_EQ(a->read_database_state().skew, 0ms);
  a->set_skew(1500ms);
  EXPECT_EQ(b->read_database_state().skew, 1500ms);
  EXPECT_EQ(b->renew({}).database_state.skew, 1500ms);
  EXPECT_EQ(b->renew(std::vector{new_lease()}).database_state.skew, 1500ms);
  EXPECT_EQ(a->record_database_state().skew, 1500ms);
}

// A coarser epoch would give the same tokens to two standbys that are promoted soon after one another.
TEST_P(database_state_test, counts_its_epoch_in_seconds_of_the_databases_clock) {
  using namespace std::chrono;
  const sys_seconds start = sys_days{year{2026} / 1 / 1};
  // The memory store's clock stands still.
  const sys_seconds now =
      GetParam() == "memory" ? sys_days{year{2026} / 7 / 1} : floor<seconds>(system_clock::now());
  EXPECT_NEAR(static_cast<double>(a->read_database_state().epoch), static_cast<double>((now - start).count()),
              80)
      << "the first one is a minute behind the clock";
  EXPECT_NEAR(static_cast<double>(next_token_of("a") >> 21),
              static_cast<double>(a->read_database_state().epoch), 20);
}

TEST_P(database_state_test, lengthens_no_lease_on_the_same_identity) {
  held("a");
  new_lease(10min);
  fixture().lose_marker();
  a->record_database_state();
  EXPECT_LE(expires_in("a"), 30s);
}

TEST_P(database_state_test, raised_by_hand_has_a_higher_epoch_each_time) {
  const auto before = a->read_database_state().epoch;
  const auto once = a->raise_epoch(0);
  EXPECT_GT(once, before);
  EXPECT_GT(b->raise_epoch(0), once);
  EXPECT_GT(a->read_database_state().epoch, once);
}

TEST_P(database_state_test, raised_by_hand_is_read_with_each_renewal) {
  const auto epoch = a->raise_epoch(0);
  EXPECT_EQ(b->renew({}).database_state.epoch, epoch);
}

TEST_P(database_state_test, raised_by_hand_above_a_token_is_just_above) {
  const auto epoch = a->read_database_state().epoch + 1'000'000;
  EXPECT_EQ(a->raise_epoch(model::epoch_floor(epoch) - 1), epoch);
  EXPECT_EQ(a->raise_epoch(model::epoch_floor(epoch + 1'000'000)), epoch + 1'000'001);
}

ROWLOCK_FOR_EACH_STORE(database_state_test);

}  // namespace
}  // namespace rowlock::test
