#include "client/decide_test.hpp"

#include <vector>

namespace rowlock::test {
namespace {

const party holder;

std::vector<decision> together(const std::vector<store::lock_view>& views, bool all,
                               std::vector<store::edit_result> results = {}) {
  std::vector<acquire_terms> wishes;
  for (std::size_t i = 0; i < views.size(); ++i) wishes.push_back(wish_of(party{}, false));
  results.resize(views.size(), store::edit_result::committed);
  return client_layer::decide_acquire_together(results, views, wishes, all, no_skew);
}

MATCHER_P(says, result, "") {
  return arg.outcome.result == result;
}

TEST(decide_together_test, grants_all_when_all_are_free) {
  for (const bool all : {true, false}) {
    const auto made = together({a_lock(), a_lock(), a_lock()}, all);
    EXPECT_THAT(made, ElementsAre(says(what::granted), says(what::granted), says(what::granted)));
    for (const auto& one : made) EXPECT_TRUE(one.change.durable);
  }
}

TEST(decide_together_test, of_all_or_nothing_writes_nothing_when_one_is_held) {
  const auto made = together({a_lock(), a_lock().held_by(holder), a_lock()}, true);
  EXPECT_THAT(made, ElementsAre(says(what::absent), says(what::busy), says(what::absent)));
  for (const auto& one : made) EXPECT_TRUE(one.change.empty());
}

TEST(decide_together_test, of_all_or_nothing_writes_nothing_when_one_was_not_read) {
  for (const auto missing : {store::edit_result::missing, store::edit_result::skipped}) {
    const auto made = together({a_lock(), a_lock()}, true, {store::edit_result::committed, missing});
    EXPECT_EQ(made[0].outcome.result, what::absent);
    EXPECT_TRUE(made[0].change.empty());
    EXPECT_TRUE(made[1].change.empty());
  }
}

TEST(decide_together_test, grants_those_before_the_first_that_is_held) {
  const auto made = together({a_lock(), a_lock().held_by(holder), a_lock()}, false);
  EXPECT_THAT(made, ElementsAre(says(what::granted), says(what::busy), says(what::absent)));
  EXPECT_TRUE(made[0].change.row);
  EXPECT_TRUE(made[2].change.empty());
}

TEST(decide_together_test, finds_all_expired_holders_at_once) {
  const auto made = together({a_lock().held_by(holder, -1s), a_lock(), a_lock().held_by(holder, -1s)}, true);
  EXPECT_THAT(made, ElementsAre(says(what::expired), says(what::absent), says(what::expired)));
}

TEST(decide_together_test, takes_a_hold_that_stands_for_granted) {
  acquire_terms wish = wish_of(me, false);
  const std::vector<store::lock_view> views{a_lock().held_by(me)};
  const std::vector results{store::edit_result::committed};
  const auto made = client_layer::decide_acquire_together(results, views, std::vector{wish}, true, no_skew);
  EXPECT_EQ(made[0].outcome.result, what::granted);
  EXPECT_EQ(made[0].outcome.token, 7);
  EXPECT_TRUE(made[0].change.empty());
}

}  // namespace
}  // namespace rowlock::test
