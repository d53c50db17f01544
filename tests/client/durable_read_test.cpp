// On databases that show a commit before it is on disk, a grant that was only read counts once it is on disk (I8).
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

class durable_read_test : public virtual_client_test {
 protected:
  durable_read_test() { server->show_commits_early(); }

  // Calls the function on a thread of its own, while time passes.
  template <class Call>
  auto run(Call call) {
    auto running = in_background(std::move(call));
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    return running.get();
  }

  client db = new_client();
  client rival = new_client();
};

TEST_F(durable_read_test, a_waiter_believes_its_grant_once_it_is_on_disk) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  auto waiter = waiting(rival, "a");
  faults.refuse("make_durable", 2);
  held.reset();
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
  EXPECT_EQ(faults.count("make_durable"), 3) << "it was not believed before the third had succeeded";
}

TEST_F(durable_read_test, a_grant_whose_reply_was_lost_is_believed_once_it_is_on_disk) {
  mutex(db, "a").acquire().release();
  faults.lose_answer("acquire");
  EXPECT_TRUE(run([&] { return mutex(db, "a").acquire(); }));
  EXPECT_GT(faults.count("make_durable"), 0);
}

TEST_F(durable_read_test, an_adoption_whose_reply_was_lost_is_believed_once_it_is_on_disk) {
  const auto text = mutex(db, "a").acquire().transfer(1h);
  faults.lose_answer("edit");
  faults.refuse("make_durable", 2);
  EXPECT_TRUE(run([&] { return adopt(rival, text); }));
  EXPECT_EQ(faults.count("make_durable"), 3);
}

TEST_F(durable_read_test, an_upgrade_whose_reply_was_lost_is_believed_once_it_is_on_disk) {
  shared_mutex catalog{db, "a"};
  hold held = catalog.acquire_shared();
  faults.lose_answer("edit");
  faults.refuse("make_durable", 2);
  EXPECT_TRUE(run([&] { return catalog.try_upgrade(held); }));
  EXPECT_EQ(faults.count("make_durable"), 3);
}

TEST_F(durable_read_test, an_upgrade_that_was_only_read_is_believed_once_it_is_on_disk) {
  shared_mutex catalog{db, "a"};
  hold held = catalog.acquire_shared();
  faults.lose_answer("edit");
  faults.deny("make_durable", 2);
  EXPECT_TRUE(run([&] { return code_of([&] { std::ignore = catalog.try_upgrade(held); }); }));
  EXPECT_EQ(held.weight(), 1) << "it may not be on disk";
  EXPECT_EQ(faults.count("make_durable"), 2);
}

TEST_F(durable_read_test, a_count_down_whose_reply_was_lost_is_done_once_it_is_on_disk) {
  const hold keeps_a_lease = mutex(db, "a").acquire();
  latch done{db, "b", 3};
  done.count_down();
  faults.lose_answer("edit");
  faults.refuse("make_durable", 2);
  run([&] { done.count_down(); });
  EXPECT_EQ(done.remaining(), 1);
  EXPECT_EQ(faults.count("make_durable"), 3);
}

TEST_F(durable_read_test, a_grant_of_ones_own_commit_needs_nothing_more) {
  const hold first = mutex(db, "a").acquire();
  const hold second = mutex(db, "b").acquire();
  EXPECT_EQ(faults.count("make_durable"), 0);
}

}  // namespace
}  // namespace rowlock::test
