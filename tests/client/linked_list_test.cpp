#include "client/base/linked_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

struct linked {
  std::shared_ptr<linked> next_in_list{};
};
using list = client_layer::linked_list<linked>;

TEST(linked_list_test, keeps_the_order_of_its_objects) {
  const auto one = std::make_shared<linked>();
  const auto other = std::make_shared<linked>();
  list all;
  EXPECT_TRUE(all.empty());
  all.push(one);
  all.push(other);
  EXPECT_THAT(all, ElementsAre(one, other));
  EXPECT_EQ(all.pop(), one);
  all.push(one);
  EXPECT_THAT(all, ElementsAre(other, one));
}

TEST(linked_list_test, an_object_that_was_taken_out_can_be_put_into_another_list) {
  const auto one = std::make_shared<linked>();
  const auto other = std::make_shared<linked>();
  list from;
  from.push(one);
  list to;
  to.push(other);
  to.append(std::move(from));
  EXPECT_THAT(to, ElementsAre(other, one));
  list moved{std::move(to)};
  EXPECT_EQ(moved.size(), 2U);
  moved.pop();
  moved.pop();
  EXPECT_TRUE(moved.empty());
  EXPECT_EQ(other->next_in_list, nullptr);
}

TEST(linked_list_test, a_long_list_needs_no_deep_stack_to_end) {
  list all;
  for (int i = 0; i < 1'000'000; ++i) all.push(std::make_shared<linked>());
  all = {};
  EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace rowlock::test
