#include "client/core/waiter_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class waiter_registry_test : public testing::Test {
 protected:
  using waiter_ptr = std::shared_ptr<client_layer::acquire_operation>;

  static waiter_ptr waiter(const std::string& name) {
    auto made = std::make_shared<client_layer::acquire_operation>();
    made->definition.name = name;
    return made;
  }
  waiter_ptr entered(const std::string& name, std::chrono::nanoseconds takeover_at = 1s) {
    auto made = waiter(name);
    EXPECT_TRUE(waiters.enter(made, instant{takeover_at}));
    return made;
  }
  static std::vector<std::string> names(const std::vector<store::hold_query>& queries) {
    std::vector<std::string> found;
    for (const auto& one : queries) found.push_back(one.name);
    return found;
  }

  client_layer::waiter_registry waiters;
};

TEST_F(waiter_registry_test, a_waiter_is_taken_by_one_caller) {
  EXPECT_TRUE(waiters.empty());
  const auto one = entered("a");
  const auto other = entered("a");
  EXPECT_FALSE(waiters.empty());
  EXPECT_EQ(waiters.take(one->hold), one);
  EXPECT_EQ(waiters.take(one->hold), nullptr);
  EXPECT_EQ(waiters.take(*one), nullptr);
  EXPECT_EQ(waiters.take(*other), other);
  EXPECT_EQ(waiters.take(other->hold), nullptr);
  EXPECT_TRUE(waiters.empty());
}

TEST_F(waiter_registry_test, finds_an_operation_by_itself_whatever_its_id_is_now) {
  const auto one = entered("a");
  const auto entered_as = one->hold;
  one->hold = model::hold_id::random();
  EXPECT_EQ(waiters.take(*one), one);
  EXPECT_EQ(waiters.take(entered_as), nullptr);
}

TEST_F(waiter_registry_test, one_that_may_not_be_retried_yet_stays) {
  const auto one = entered("a");
  one->not_before = instant{5s};
  EXPECT_EQ(waiters.take_if_due(one->hold, instant{5s} - 1ns), nullptr);
  EXPECT_FALSE(waiters.empty());
  EXPECT_EQ(waiters.take_if_due(one->hold, instant{5s}), one);
  EXPECT_EQ(waiters.take_if_due(one->hold, instant{5s}), nullptr);
}

TEST_F(waiter_registry_test, all_may_be_taken_and_others_enter_later) {
  const auto one = entered("a");
  const auto other = entered("b");
  EXPECT_THAT(waiters.take_all(), UnorderedElementsAre(one, other));
  EXPECT_EQ(waiters.take(*one), nullptr);
  EXPECT_FALSE(waiters.next_takeover());
  EXPECT_TRUE(waiters.enter(one, instant{1s}));
}

TEST_F(waiter_registry_test, nobody_enters_after_the_close) {
  const auto one = entered("a");
  EXPECT_THAT(waiters.close(), ElementsAre(one));
  const auto late = waiter("b");
  EXPECT_FALSE(waiters.enter(late, instant{1s}));
  EXPECT_EQ(waiters.take(*late), nullptr);
  EXPECT_TRUE(waiters.empty());
}

TEST_F(waiter_registry_test, asks_about_all_or_about_those_that_are_here) {
  const auto one = entered("a");
  entered("b");
  const auto gone = entered("c");
  waiters.take(*gone);
  EXPECT_THAT(names(waiters.queries()), UnorderedElementsAre("a", "b"));
  const std::vector<model::hold_id> some{gone->hold, one->hold};
  EXPECT_THAT(names(waiters.queries(some)), ElementsAre("a"));
  EXPECT_EQ(waiters.queries(some).front().hold, one->hold);
  EXPECT_THAT(waiters.queries(std::vector<model::hold_id>{}), IsEmpty());
}

TEST_F(waiter_registry_test, knows_the_earliest_takeover) {
  EXPECT_FALSE(waiters.next_takeover());
  entered("a", 3s);
  const auto one = entered("b", 2s);
  EXPECT_EQ(waiters.next_takeover(), instant{2s});
  waiters.set_takeover(one->hold, instant{4s});
  EXPECT_EQ(waiters.next_takeover(), instant{3s});
  waiters.set_takeover(model::hold_id::random(), instant{1s});
  EXPECT_EQ(waiters.next_takeover(), instant{3s}) << "nobody of that id waits";
}

}  // namespace
}  // namespace rowlock::test
