// Where a commit can be read before it is on disk, a grant that was only read counts once it is on disk (I8).
#include "client/client_test.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

class durable_read_test : public virtual_client_test {
 protected:
  durable_read_test() { server->show_commits_early(); }

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
  attempt asked{db, "a"};
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_TRUE(asked.take());
  EXPECT_GT(faults.count("make_durable"), 0);
}

TEST_F(durable_read_test, a_grant_of_ones_own_commit_needs_nothing_more) {
  const hold first = mutex(db, "a").acquire();
  const hold second = mutex(db, "b").acquire();
  EXPECT_EQ(faults.count("make_durable"), 0);
}

}  // namespace
}  // namespace rowlock::test
