#include "contract/contract_test.hpp"

#include "support/background.hpp"

#include <rowlock/error.hpp>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class lease_test : public contract_test {
 protected:
  std::vector<lease_id> kill_at(const lease_id& lease, std::chrono::microseconds skew) {
    return b->kill(std::vector{lease}, skew);
  }
  // How long the lease has left on the database's clock, read through a lock that it holds.
  std::chrono::microseconds expires_in(const lease_id& lease) {
    const std::string name = lease.to_string();
    create(name);
    edit(name, grant_to(lease, hold_id::random()));
    return view(name).holder.value().expires_in;
  }
};

TEST_P(lease_test, lives_for_its_ttl_from_its_creation) {
  const auto lease = new_lease(20s);
  EXPECT_LE(expires_in(lease), 20s);
  EXPECT_GT(expires_in(lease), 15s);
}

TEST_P(lease_test, renewal_prolongs_it_to_its_ttl_from_now) {
  const auto lease = new_lease(20s);
  fixture().expire(lease, -2s);
  ASSERT_TRUE(renew(lease));
  EXPECT_LE(expires_in(lease), 20s);
  EXPECT_GT(expires_in(lease), 15s);
}

TEST_P(lease_test, renewal_says_nothing_of_one_that_does_not_exist) {
  EXPECT_FALSE(renew(lease_id::random()));
}

TEST_P(lease_test, renewal_never_revives_an_expired_one) {
  const auto lease = new_lease();
  fixture().expire(lease, 1us);
  EXPECT_FALSE(renew(lease));
  EXPECT_FALSE(renew(lease));
  EXPECT_THAT(kill_at(lease, 0us), ElementsAre(lease))
      << "the refused renewal must not have moved its expiry";
}

// Another server's clock may be ahead of the clock that wrote the expiry (I5).
TEST_P(lease_test, kill_does_nothing_on_another_server_than_the_recorded_one) {
  const auto lease = new_lease(20s);
  fixture().expire(lease);
  fixture().change_identity();
  EXPECT_THAT(kill_at(lease, 0us), IsEmpty());
  b->record_database_state();
  EXPECT_THAT(kill_at(lease, 0us), IsEmpty()) << "it was lengthened";
  fixture().expire(lease);
  EXPECT_THAT(kill_at(lease, 0us), ElementsAre(lease));
}

TEST_P(lease_test, renewal_never_revives_a_killed_one) {
  const auto lease = new_lease();
  kill(lease);
  EXPECT_FALSE(renew(lease));
}

TEST_P(lease_test, renewal_of_a_batch_answers_for_those_that_live) {
  const auto one = new_lease();
  const auto expired = new_lease();
  const auto dead = new_lease();
  const auto two = new_lease();
  fixture().expire(expired);
  kill(dead);
  const auto reply = a->renew(std::vector{one, expired, lease_id::random(), dead, two});
  std::vector<lease_id> renewed;
  for (const auto& each : reply.renewed) renewed.push_back(each.id);
  EXPECT_THAT(renewed, UnorderedElementsAre(one, two));
}

TEST_P(lease_test, renewal_of_none_still_reads_the_database_state) {
  const auto reply = a->renew({});
  EXPECT_THAT(reply.renewed, IsEmpty());
  EXPECT_EQ(reply.database_state, a->read_database_state());
}

TEST_P(lease_test, renewal_of_many_at_once) {
  std::vector<lease_id> leases;
  for (int i = 0; i < 100; ++i) leases.push_back(new_lease());
  EXPECT_THAT(a->renew(leases).renewed, SizeIs(100));
}

TEST_P(lease_test, kill_leaves_one_that_has_not_expired) {
  const auto lease = new_lease();
  EXPECT_THAT(kill_at(lease, 0us), IsEmpty());
  EXPECT_TRUE(renew(lease));
}

TEST_P(lease_test, kill_deletes_an_expired_one_once) {
  const auto lease = new_lease();
  fixture().expire(lease);
  EXPECT_THAT(kill_at(lease, 0us), ElementsAre(lease));
  EXPECT_THAT(kill_at(lease, 0us), IsEmpty());
}

TEST_P(lease_test, kill_waits_the_skew_longer) {
  const auto lease = new_lease();
  fixture().expire(lease, 10s);
  EXPECT_THAT(kill_at(lease, 1min), IsEmpty());
  EXPECT_THAT(kill_at(lease, 5s), ElementsAre(lease));
}

// The database's clock was set back since the last renewal. A living holder renews within its ttl.
TEST_P(lease_test, kill_shortens_one_that_ends_later_than_its_ttl_from_now) {
  const auto lease = new_lease(20s);
  const auto other = new_lease(20s);
  const auto expired = new_lease(20s);
  fixture().expire(lease, -20min);
  EXPECT_THAT(kill_at(lease, 0us), IsEmpty());
  EXPECT_LE(expires_in(lease), 20s);
  EXPECT_GT(expires_in(lease), 15s);
  EXPECT_TRUE(renew(lease));
  fixture().expire(lease, -20min);
  fixture().expire(other, -24h * 30000);
  fixture().expire(expired);
  EXPECT_THAT(b->kill(std::vector{lease, other, expired}, 0us), ElementsAre(expired));
  EXPECT_LE(expires_in(lease), 20s);
  EXPECT_LE(expires_in(other), 20s);
  EXPECT_GT(expires_in(other), 15s);
}

// Another server of the cluster may have written the expiry, by a clock that is ahead within the skew.
TEST_P(lease_test, kill_leaves_one_that_ends_within_the_skew_after_its_ttl_from_now) {
  const auto lease = new_lease(20s);
  fixture().expire(lease, -40s);
  EXPECT_THAT(kill_at(lease, 30s), IsEmpty());
  EXPECT_GT(expires_in(lease), 35s);
  EXPECT_THAT(kill_at(lease, 10s), IsEmpty());
  EXPECT_LE(expires_in(lease), 20s);
}

TEST_P(lease_test, kill_shortens_nothing_on_another_server_than_the_recorded_one) {
  const auto holder = held("a");
  const claim other{"a", new_lease()};
  fixture().expire(holder.lease, -20min);
  fixture().change_identity();
  kill_at(holder.lease, 0us);
  EXPECT_EQ(find(other).takeover_in, 0us) << "as of a lease that is too long";
}

TEST_P(lease_test, kill_of_a_batch_returns_those_that_it_killed) {
  const auto alive = new_lease();
  const auto one = new_lease();
  const auto two = new_lease();
  fixture().expire(one);
  fixture().expire(two);
  EXPECT_THAT(a->kill(std::vector{one, alive, lease_id::random(), two}, 0us), UnorderedElementsAre(one, two));
  EXPECT_TRUE(renew(alive));
}

TEST_P(lease_test, kill_of_none_is_nothing) {
  EXPECT_THAT(a->kill({}, 0us), IsEmpty());
}

TEST_P(lease_test, kill_and_renewal_meet_and_one_of_them_wins) {
  for (int round = 0; round < 20; ++round) {
    const auto lease = new_lease();
    // The lease expires while the renewal and the kill are under way. (The memory store's clock stands still: there the
    // renewal wins.)
    fixture().expire(lease, -1ms * (round % 4));
    auto renewal = in_background([&] { return !a->renew(std::vector{lease}).renewed.empty(); });
    auto killer = in_background([&] { return !b->kill(std::vector{lease}, 0us).empty(); });
    const bool renewed = renewal.get();
    const bool killed = killer.get();
    EXPECT_FALSE(renewed && killed) << "in round " << round;
    if (renewed) {
      EXPECT_THAT(kill_at(lease, 0us), IsEmpty());
    }
    if (killed) {
      EXPECT_FALSE(renew(lease));
    }
  }
}

TEST_P(lease_test, end_deletes_it_expired_or_not) {
  const auto alive = new_lease();
  const auto expired = new_lease();
  fixture().expire(expired);
  a->end(std::vector{alive, expired, lease_id::random()});
  EXPECT_FALSE(renew(alive));
  EXPECT_THAT(kill_at(expired, 0us), IsEmpty());
}

TEST_P(lease_test, end_twice_is_as_once) {
  const auto lease = new_lease();
  end(lease);
  EXPECT_NO_THROW(end(lease));
}

// The answer to create_lease was lost, so the client sends the request again.
TEST_P(lease_test, created_again_is_renewed) {
  store::lease_record lease;
  lease.id = lease.client = lease_id::random();
  lease.ttl = 20s;
  a->create_lease(lease);
  fixture().expire(lease.id, -10s);
  b->create_lease(lease);
  EXPECT_GT(expires_in(lease.id), 15s);
  EXPECT_LE(expires_in(lease.id), 20s);
}

TEST_P(lease_test, created_again_is_not_revived) {
  store::lease_record lease;
  lease.id = lease.client = lease_id::random();
  lease.ttl = 20s;
  a->create_lease(lease);
  fixture().expire(lease.id);
  EXPECT_THROW(b->create_lease(lease), error);
  EXPECT_THAT(kill_at(lease.id, 0us), ElementsAre(lease.id));
}

TEST_P(lease_test, keeps_what_was_said_of_its_owner) {
  create("a");
  store::lease_record lease;
  lease.id = lease_id::random();
  lease.client = new_lease();
  lease.host = "hö'st\\1";
  lease.pid = 4'194'304;
  lease.application = "a \"quoted\" {program}, with commas";
  lease.ttl = 12'345ms;
  lease.user = "d'\xC3\xA9ploi";
  lease.program = "bill --everyone \"now\"\\";
  a->create_lease(lease);
  edit("a", grant_to(lease.id, hold_id::random()));
  const auto stored = a->show("a").value().holders.at(0).lease;
  EXPECT_EQ(stored.id, lease.id);
  EXPECT_EQ(stored.client, lease.client);
  EXPECT_EQ(stored.host, lease.host);
  EXPECT_EQ(stored.pid, lease.pid);
  EXPECT_EQ(stored.application, lease.application);
  EXPECT_EQ(stored.ttl, lease.ttl);
  EXPECT_EQ(stored.user, lease.user);
  EXPECT_EQ(stored.program, lease.program);
}

TEST_P(lease_test, notice_is_read_with_each_renewal) {
  const auto holder = held("a");
  const auto before = renew(holder.lease).value().notice;
  EXPECT_EQ(renew(holder.lease).value().notice, before);
  edit("a", force_release);
  const auto after = renew(holder.lease).value().notice;
  EXPECT_GT(after, before);
  EXPECT_EQ(renew(holder.lease).value().notice, after);
}

ROWLOCK_FOR_EACH_STORE(lease_test);

}  // namespace
}  // namespace rowlock::test
