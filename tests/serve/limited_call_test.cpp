#include "serve/limited_call.hpp"

#include "support/background.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

errc code_of(const serve::limited_call<int>& call) {
  try {
    call();
  } catch (const error& problem) {
    return problem.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return errc::internal;
}

TEST(limited_call, returns_or_throws_what_the_call_does) {
  const serve::limited_call<int> returns{"a call", [] { return 7; }, 60s};
  EXPECT_EQ(returns(), 7);
  EXPECT_EQ(returns(), 7) << "again";
  const serve::limited_call<int> throws{"a call", []() -> int { throw error(errc::privilege, "no"); }, 60s};
  EXPECT_EQ(code_of(throws), errc::privilege);
  EXPECT_EQ(code_of(throws), errc::privilege) << "again";
}

TEST(limited_call, waits_no_longer_than_its_limit_and_begins_no_second_one_meanwhile) {
  std::promise<void> go_on;
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const serve::limited_call<int> hangs{"a call",
                                       [begun, may_end = go_on.get_future().share()] {
                                         may_end.wait();
                                         return ++*begun;
                                       },
                                       1ms};
  EXPECT_EQ(code_of(hangs), errc::unreachable);
  EXPECT_EQ(code_of(hangs), errc::unreachable);
  EXPECT_EQ(*begun, 0);
  go_on.set_value();
  // The call that was under way ends once; only then does another one begin.
  for (int latest = 0; latest < 2;) {
    try {
      latest = hangs();
    } catch (const error&) {
      std::this_thread::yield();  // it takes longer than the limit on a busy machine
    }
  }
}

TEST(limited_call, all_who_call_meanwhile_get_the_same_result) {
  std::promise<void> go_on;
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const serve::limited_call<int> call{"a call",
                                      [begun, may_end = go_on.get_future().share()] {
                                        const int number = ++*begun;
                                        may_end.wait();
                                        return number;
                                      },
                                      60s};
  auto first = in_background([&] { return call(); });
  while (*begun == 0) std::this_thread::yield();
  std::atomic<bool> asks{false};
  auto second = in_background([&] {
    asks = true;
    return call();
  });
  while (!asks) std::this_thread::yield();
  std::this_thread::yield();
  go_on.set_value();
  EXPECT_EQ(first.get(), 1);
  const int other = second.get();
  EXPECT_EQ(other, *begun) << "the call that was under way, or one of its own if that had just ended";
}

TEST(limited_call, ends_for_all_who_wait_and_begins_no_more) {
  std::promise<void> go_on;
  const auto begun = std::make_shared<std::atomic<int>>(0);
  const serve::limited_call<int> hangs{"a call",
                                       [begun, may_end = go_on.get_future().share()] {
                                         ++*begun;
                                         may_end.wait();
                                         return 1;
                                       },
                                       1h};
  auto first = in_background([&] { return code_of(hangs); });
  auto second = in_background([&] { return code_of(hangs); });
  while (*begun == 0) std::this_thread::yield();
  hangs.end();
  EXPECT_EQ(first.get(), errc::closed);
  EXPECT_EQ(second.get(), errc::closed);
  go_on.set_value();
  EXPECT_EQ(code_of(hangs), errc::closed);
  EXPECT_EQ(*begun, 1);
}

}  // namespace
}  // namespace rowlock::test
