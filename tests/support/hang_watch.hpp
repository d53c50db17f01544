// Ends the test program, and names the test, if a test does not end. Only this limit applies to every test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace rowlock::test {

// Several times what the longest test takes; ROWLOCK_TEST_LONG=1 makes some tests longer.
std::chrono::milliseconds time_per_test();

// At most one object may exist: it uses the process's SIGALRM, which arrives even if every thread waits.
class hang_watch : public testing::EmptyTestEventListener {
 public:
  explicit hang_watch(std::chrono::milliseconds limit = time_per_test());
  ~hang_watch() override;
  hang_watch(const hang_watch&) = delete;
  hang_watch& operator=(const hang_watch&) = delete;

  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestEnd(const testing::TestInfo& info) override;
  void watch(const std::string& test);

 private:
  const std::chrono::milliseconds limit_;
  // These members count the tests that have ended.
  int passed_ = 0;
  int failed_ = 0;
};

}  // namespace rowlock::test
