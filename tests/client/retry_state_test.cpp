#include "client/core/retry_state.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::retry_state;

const client_layer::instant start{1h};

TEST(retry_state_test, a_row_is_locked_since_the_first_try_that_found_it_so) {
  retry_state retry;
  EXPECT_FALSE(retry.locked_since());
  retry.row_locked(start);
  retry.row_locked(start + 500ms);
  EXPECT_EQ(retry.locked_since(), start);
  EXPECT_FALSE(retry.is_locked_out(start + retry_state::row_lock_limit));
  EXPECT_TRUE(retry.is_locked_out(start + retry_state::row_lock_limit + 1ns));
  EXPECT_EQ(retry.failures(), 0);
}

TEST(retry_state_test, a_failure_says_nothing_of_the_row_and_counts) {
  retry_state retry;
  retry.row_locked(start);
  retry.looked();
  EXPECT_TRUE(retry.has_looked());
  retry.failed();
  retry.failed();
  EXPECT_FALSE(retry.locked_since());
  EXPECT_FALSE(retry.has_looked());
  EXPECT_FALSE(retry.is_locked_out(start + 1h));
  EXPECT_EQ(retry.failures(), 2);
}

TEST(retry_state_test, a_request_that_was_set_apart_goes_alone_until_it_has_failed_by_itself) {
  retry_state retry;
  EXPECT_FALSE(retry.goes_alone());
  retry.row_locked(start);
  retry.set_apart();
  EXPECT_TRUE(retry.goes_alone());
  EXPECT_FALSE(retry.locked_since());
  EXPECT_EQ(retry.failures(), 0) << "the fault may be another one's";
  retry.row_locked(start);
  EXPECT_TRUE(retry.goes_alone());
  retry.failed();
  EXPECT_FALSE(retry.goes_alone());
}

TEST(retry_state_test, a_request_that_was_refused_alone_goes_alone_again) {
  retry_state retry;
  retry.row_locked(start);
  retry.refused();
  EXPECT_TRUE(retry.goes_alone());
  EXPECT_FALSE(retry.locked_since());
  EXPECT_EQ(retry.failures(), 1);
}

}  // namespace
}  // namespace rowlock::test
