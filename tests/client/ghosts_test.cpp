#include "client/base/ghosts.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;

class ghosts_test : public testing::Test {
 protected:
  const client_layer::ghost first{"backend 1", instant{1s}};
  const client_layer::ghost later{"backend 1", instant{2s}};
  const client_layer::ghost other{"backend 2", instant{1s}};
  client_layer::ghosts left;
};

TEST_F(ghosts_test, are_there_until_each_is_removed) {
  EXPECT_TRUE(left.empty());
  for (const auto& one : {first, later, other}) left.add(one);
  left.remove(first);
  ASSERT_EQ(left.all().size(), 2U) << "the same backend's later ghost is another one";
  EXPECT_EQ(left.all().front().broke_at, later.broke_at);
  EXPECT_EQ(left.all().back().backend, other.backend);
  left.remove(first);
  EXPECT_FALSE(left.empty());
  left.remove(later);
  left.remove(other);
  EXPECT_TRUE(left.empty());
}

TEST_F(ghosts_test, only_one_that_nobody_has_seen_end_is_reported) {
  int reported = 0;
  left.on_forgotten = [&] {
    ++reported;
    EXPECT_EQ(left.all().size(), 1U) << "it is forgotten, and no mutex is locked";
  };
  for (const auto& one : {first, later, other}) left.add(one);
  left.remove(first);
  EXPECT_EQ(reported, 0);
  left.forget(later);
  EXPECT_EQ(reported, 1);
}

TEST_F(ghosts_test, one_for_which_there_was_no_memory_is_reported_like_one_that_was_forgotten) {
  left.could_not_add();
  int reported = 0;
  left.on_forgotten = [&] { ++reported; };
  left.could_not_add();
  EXPECT_EQ(reported, 1);
}

TEST_F(ghosts_test, may_be_forgotten_where_nobody_wants_to_know) {
  left.add(first);
  left.forget(first);
  EXPECT_TRUE(left.empty());
}

}  // namespace
}  // namespace rowlock::test
