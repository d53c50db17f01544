// What a lock's own object shows of its holders and its queue.
#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class lock_info_test : public client_test {
 protected:
  client db = new_client(slow_to_renew());
  client other = new_client();
};

TEST_P(lock_info_test, of_a_new_name_is_that_nobody_holds_it_or_waits) {
  const mutex fresh{db, "a"};
  EXPECT_FALSE(fresh.is_locked());
  EXPECT_THAT(fresh.holders(), IsEmpty());
  EXPECT_THAT(fresh.waiters(), IsEmpty());
  EXPECT_FALSE(side().show("a")) << "a look makes no lock";
}

TEST_P(lock_info_test, says_who_holds_it_and_whether_that_is_this_client) {
  const mutex here{db, "a"};
  const mutex there{other, "a"};
  {
    const hold held = mutex(db, "a").acquire();
    EXPECT_TRUE(here.is_locked());
    EXPECT_TRUE(there.is_locked());
    const auto seen = here.holders();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].hold_id, held.id());
    EXPECT_EQ(seen[0].token, held.token());
    EXPECT_TRUE(seen[0].of_this_client);
    EXPECT_FALSE(there.holders().at(0).of_this_client);
    EXPECT_TRUE(admin{db}.show("a").value().holders.at(0).of_this_client);
  }
  EXPECT_FALSE(here.is_locked());
  const hold on_a_lease_of_its_own = mutex(db, "a").acquire({.ttl = 1h});
  EXPECT_TRUE(here.holders().at(0).of_this_client);
  EXPECT_FALSE(there.holders().at(0).of_this_client);
}

TEST_P(lock_info_test, shows_the_queue_in_its_order) {
  const mutex here{db, "a"};
  hold held = mutex(db, "a").acquire();
  auto first = waiting(other, "a");
  auto second = waiting(db, "a");
  const auto seen = here.waiters();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_FALSE(seen[0].of_this_client);
  EXPECT_TRUE(seen[1].of_this_client);
  EXPECT_LT(seen[0].ticket, seen[1].ticket);
  EXPECT_TRUE(seen[0].alive);
  held.release();
  hold next = first.take();
  EXPECT_EQ(next.id(), seen[0].hold_id);
  EXPECT_EQ(here.waiters().size(), 1U);
  next.release();
  EXPECT_EQ(second.take().id(), seen[1].hold_id);
}

TEST_P(lock_info_test, shows_a_holder_whose_lease_has_expired_as_that_and_the_lock_as_not_locked) {
  const hold held = mutex(db, "a").acquire();
  fixture().expire(lease_of("a"));
  const mutex there{other, "a"};
  const auto seen = there.holders();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_LT(seen[0].expires_in, 0ms);
  EXPECT_FALSE(there.is_locked());
  EXPECT_TRUE(mutex(other, "a").try_acquire()) << "as is_locked() said";
}

TEST_P(lock_info_test, shows_a_dead_waiter_as_that_and_no_dead_holder) {
  const hold held = mutex(other, "a").acquire();
  auto waiter = waiting(db, "a");
  kill(side().queue("a").at(0).waiter.lease);
  const auto seen = mutex(other, "a").waiters();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen[0].alive);
  kill(lease_of("a"));
  EXPECT_THAT(mutex(other, "a").holders(), IsEmpty());
  EXPECT_FALSE(mutex(other, "a").is_locked());
}

TEST_P(lock_info_test, says_that_a_lock_that_rests_is_locked) {
  mutex(db, "a").acquire({.min_hold = 1h}).release();
  const mutex there{other, "a"};
  ASSERT_TRUE(eventually([&] { return there.holders().at(0).hold_id == hold_id{}; }));
  EXPECT_TRUE(there.is_locked());
}

TEST_P(lock_info_test, of_readers_and_a_writer_says_which_they_are) {
  shared_mutex catalog{db, "c"};
  const hold one = catalog.acquire_shared();
  const hold two = shared_mutex(other, "c").acquire_shared();
  auto writer = in_background([&] { return shared_mutex(other, "c").acquire(); });
  ASSERT_TRUE(eventually([&] { return queued("c") == 1; }));
  EXPECT_TRUE(catalog.is_locked());
  const auto seen = catalog.holders();
  ASSERT_EQ(seen.size(), 2U);
  for (const auto& reader : seen) EXPECT_EQ(reader.mode, lock_mode::shared);
  EXPECT_EQ(catalog.waiters().at(0).mode, lock_mode::exclusive);
  const_cast<hold&>(one).release();
  const_cast<hold&>(two).release();
  const hold written = writer.get();
  EXPECT_EQ(catalog.holders().at(0).mode, lock_mode::exclusive);
}

TEST_P(lock_info_test, of_a_semaphore_says_how_many_permits) {
  counting_semaphore gpus{db, "s", 4};
  const hold three = gpus.acquire(3);
  auto two = in_background([&] { return counting_semaphore(other, "s", 4).acquire(2); });
  ASSERT_TRUE(eventually([&] { return queued("s") == 1; }));
  EXPECT_EQ(gpus.holders().at(0).weight, 3);
  EXPECT_EQ(gpus.waiters().at(0).weight, 2);
  const_cast<hold&>(three).release();
  EXPECT_TRUE(two.get());
}

TEST_P(lock_info_test, of_a_recursive_mutex_is_that_of_its_one_hold) {
  recursive_mutex a{db, "a"};
  const hold outer = a.acquire();
  const hold inner = a.acquire();
  EXPECT_TRUE(a.is_locked());
  EXPECT_EQ(a.holders().size(), 1U);
}

TEST_P(lock_info_test, needs_a_lock_of_that_kind_and_an_open_client) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { std::ignore = shared_mutex(other, "a").is_locked(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 2).holders(); }), errc::mismatch);
  other.close();
  EXPECT_EQ(code_of([&] { std::ignore = mutex(other, "a").is_locked(); }), errc::closed);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(other, "a").waiters(); }), errc::closed);
}

ROWLOCK_FOR_EACH_STORE(lock_info_test);

}  // namespace
}  // namespace rowlock::test
