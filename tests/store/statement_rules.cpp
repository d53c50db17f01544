#include "store/statement_rules.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {

void expect_left_to_its_holder(store::session& session, const claim& next,
                               const std::function<void()>& commit) {
  const claim rival{"a", new_lease(session), hold_id::random()};
  EXPECT_FALSE(acquire(session, rival));
  EXPECT_EQ(edit(session, "a", [](const auto&) { return store::lock_change{}; }),
            store::edit_result::skipped);
  commit();
  EXPECT_FALSE(acquire(session, rival));
  const auto view = look(session, "a");
  ASSERT_TRUE(view);
  ASSERT_TRUE(view->holder) << "a sweep that frees this lock would clear a new hold";
  EXPECT_EQ(view->holder->id, next.lease);
}

void expect_waiter_is_seen(store::session& session, const std::function<void(hold_id waiter)>& enqueue,
                           const std::function<void()>& commit) {
  const claim holder{"a", new_lease(session), hold_id::random()};
  ASSERT_TRUE(acquire(session, holder));
  const auto waiter = hold_id::random();
  enqueue(waiter);
  EXPECT_FALSE(release(session, holder));
  commit();
  EXPECT_FALSE(release(session, holder));
  const auto view = look(session, "a");
  ASSERT_TRUE(view);
  ASSERT_EQ(view->queue.size(), 1U);
  EXPECT_EQ(view->queue.front().waiter.hold, waiter);
}

}  // namespace rowlock::test
