#include "client/decision/lock_state.hpp"

#include "client/decision/lock_editor.hpp"
#include "client/lock_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::lock_editor;
using client_layer::lock_state;
using testing::ElementsAre;
using testing::IsEmpty;

class lock_state_test : public testing::Test {
 protected:
  // The state keeps a reference to the view. Only a decision has a lock_state, so the test asks for it through an
  // editor.
  const lock_state& read(const store::lock_view& view, std::chrono::microseconds skew = no_skew) {
    view_ = view;
    return lock_.emplace(view_, skew);
  }

  const party me{}, first{}, second{}, third{};

 private:
  store::lock_view view_;
  std::optional<lock_editor> lock_;
};

TEST_F(lock_state_test, knows_each_hold_that_stands) {
  const auto& one = read(a_semaphore(5).shared_by(first, 2).shared_by(second, 1, {}).guarded());
  EXPECT_EQ(one.token_of(first.hold), 8);
  EXPECT_EQ(one.lease_of(first.hold).id, first.lease);
  EXPECT_EQ(one.permit_of(first.hold)->weight, 2);
  EXPECT_NE(one.permit_of(second.hold), nullptr) << "a guarded transaction keeps it";
  EXPECT_FALSE(one.token_of(second.hold)) << "but its lease is gone";
  EXPECT_FALSE(one.token_of(me.hold));
  EXPECT_FALSE(one.row().lease) << "nobody holds it alone";

  const auto& exclusive = read(a_lock().held_by(me));
  EXPECT_TRUE(exclusive.held_by(me.hold));
  EXPECT_EQ(exclusive.token_of(me.hold), 7);
  EXPECT_EQ(exclusive.lease_of(me.hold).id, me.lease);
  EXPECT_TRUE(exclusive.is_held_by_living());
  EXPECT_FALSE(read(a_lock().held_by(me, {})).is_held_by_living());
}

TEST_F(lock_state_test, a_request_fits_where_no_exclusive_hold_and_room_enough_is) {
  using enum model::lock_mode;
  const auto& one = read(a_semaphore(5).shared_by(first, 3));
  EXPECT_TRUE(one.fits(shared, 2));
  EXPECT_FALSE(one.fits(shared, 3));
  EXPECT_FALSE(one.fits(exclusive, 5));
  EXPECT_TRUE(read(a_shared_mutex()).fits(exclusive, 1));
  EXPECT_FALSE(read(a_lock().held_by(me)).fits(exclusive, 1));
}

TEST_F(lock_state_test, the_head_of_the_queue_alone_says_whether_somebody_is_next) {
  EXPECT_TRUE(read(a_semaphore(4).shared_by(me, 2).queued_to_share(first, 2)).has_next());
  EXPECT_FALSE(
      read(a_semaphore(4).shared_by(me, 2).queued_to_share(first, 3).queued_to_share(second, 1)).has_next());
  EXPECT_TRUE(read(a_lock().dead_waiter(first).more_behind()).has_next()) << "somebody unread may be";
  EXPECT_FALSE(read(a_semaphore(4).kind(model::lock_kind::latch).queued_to_share(first)).has_next())
      << "a latch is waited for, not granted";
}

TEST_F(lock_state_test, a_skew_delays_each_kill) {
  const auto expired = a_lock().held_by(first, -1s);
  EXPECT_THAT(read(expired, 1s).due_holders(), ElementsAre(first.lease));
  EXPECT_THAT(read(expired, 1s + 1us).due_holders(), IsEmpty());
}

TEST_F(lock_state_test, a_lease_that_ends_later_than_its_ttl_and_the_skew_from_now_is_due_too) {
  const auto ahead = a_lock().held_by(first, 40s).queued(second, 40s);
  EXPECT_THAT(read(ahead, 0s).due_holders(), ElementsAre(first.lease));
  EXPECT_THAT(read(ahead, 10s - 1us).due_waiters(), ElementsAre(second.lease));
  EXPECT_THAT(read(ahead, 10s).due_holders(), IsEmpty());
  EXPECT_THAT(read(ahead, 10s).due_waiters(), IsEmpty());
}

TEST_F(lock_state_test, knows_when_the_first_lease_in_the_way_may_be_killed) {
  EXPECT_EQ(read(a_lock().held_by(first, 20s).queued(second, 5s)).takeover_in(), 20s);
  EXPECT_EQ(read(a_lock().held_by(first, {})).takeover_in(), 0s);
  EXPECT_EQ(read(a_semaphore(3).shared_by(first, 1, 20s).shared_by(second, 1, 10s)).takeover_in(), 10s);
  EXPECT_EQ(read(a_semaphore(3).shared_by(first, 1, 20s).queued_to_share(second, 3, 5s)).takeover_in(), 5s)
      << "the others may wait for the head of the queue";
}

}  // namespace
}  // namespace rowlock::test
