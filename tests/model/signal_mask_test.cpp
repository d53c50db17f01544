#include "model/signal_mask.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

bool is_blocked(int number) {
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return ::sigismember(&now, number) == 1;
}

TEST(signal_mask_test, restores_what_was_blocked_before) {
  ASSERT_FALSE(is_blocked(SIGUSR1));
  ASSERT_FALSE(is_blocked(SIGUSR2));
  {
    const model::signal_mask one{SIG_BLOCK, model::only_signal(SIGUSR1)};
    EXPECT_TRUE(is_blocked(SIGUSR1));
    EXPECT_FALSE(is_blocked(SIGUSR2));
    {
      const model::signal_mask all{SIG_BLOCK, model::all_signals()};
      EXPECT_TRUE(is_blocked(SIGUSR2));
      const model::signal_mask none{SIG_UNBLOCK, model::only_signal(SIGUSR1)};
      EXPECT_FALSE(is_blocked(SIGUSR1));
    }
    EXPECT_TRUE(is_blocked(SIGUSR1)) << "as before the inner ones";
    EXPECT_FALSE(is_blocked(SIGUSR2));
  }
  EXPECT_FALSE(is_blocked(SIGUSR1));
}

}  // namespace
}  // namespace rowlock::test
