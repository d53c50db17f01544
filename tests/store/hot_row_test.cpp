#include "store/hot_row.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using store::hot_row;

TEST(hot_row_test, only_a_row_that_was_lately_locked_is_hot) {
  const hot_row::instant now{1h};
  hot_row hot{5s};
  EXPECT_FALSE(hot.waits_for("a", now));
  hot.was_locked("a", now);
  EXPECT_TRUE(hot.waits_for("a", now));
  EXPECT_FALSE(hot.waits_for("b", now));
  EXPECT_FALSE(hot.waits_for("a", now + hot_row::stays_hot));
}

TEST(hot_row_test, is_waited_for_less_long_than_the_server_lets_a_statement_run) {
  EXPECT_EQ(hot_row{5s}.waits_at_most(), 100ms);
  EXPECT_EQ(hot_row{200ms}.waits_at_most(), 100ms);
  EXPECT_EQ(hot_row{80ms}.waits_at_most(), 40ms);
  EXPECT_EQ(hot_row{1ms}.waits_at_most(), 1ms) << "0 is no limit";
}

TEST(hot_row_test, no_row_is_hot_after_a_wait_in_vain) {
  const hot_row::instant now{1h};
  hot_row hot{5s};
  hot.was_locked("a", now);
  hot.waited_in_vain(now);
  EXPECT_FALSE(hot.waits_for("a", now));
  const auto later = now + hot_row::gives_up_for;
  hot.was_locked("b", later);
  EXPECT_TRUE(hot.waits_for("b", later));
}

TEST(hot_row_test, is_waited_for_ever_less_often_while_that_is_in_vain) {
  hot_row hot{5s};
  hot_row::instant now{1h};
  const auto waits_after = [&](std::chrono::seconds pause) {
    hot.waited_in_vain(now);
    now += pause - 1s;
    hot.was_locked("a", now);
    const bool too_early = hot.waits_for("a", now);
    now += 1s;
    hot.was_locked("a", now);
    return !too_early && hot.waits_for("a", now);
  };
  EXPECT_TRUE(waits_after(1s));
  EXPECT_TRUE(waits_after(2s));
  EXPECT_TRUE(waits_after(4s));
  for (int i = 0; i < 10; ++i) hot.waited_in_vain(now);
  EXPECT_TRUE(waits_after(64s));
  hot.had_its_turn();
  EXPECT_TRUE(waits_after(1s));
}

}  // namespace
}  // namespace rowlock::test
