#include "support/hang_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace rowlock::test {
namespace {

TEST(hang_watch_test, ends_the_program_and_names_the_test_that_does_not_end) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto program = ::fork();
  if (program == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    hang_watch watch{std::chrono::milliseconds{20}};
    watch.watch("some_test.waits");
    for (;;) ::pause();
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 256> some{};
  for (ssize_t size = 0; (size = ::read(ends[0], some.data(), some.size())) > 0;) {
    said.append(some.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(said, testing::HasSubstr("\n[  FAILED  ] some_test.waits (20 ms)\n"));
  EXPECT_THAT(said, testing::HasSubstr("\n0 passed, 1 failed\n"));
}

TEST(hang_watch_test, lets_a_test_pass_that_ends) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto program = ::fork();
  if (program == 0) {
    hang_watch watch{std::chrono::milliseconds{20}};
    watch.OnTestStart(*info);
    watch.OnTestEnd(*info);
    ::usleep(40'000);
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace rowlock::test
