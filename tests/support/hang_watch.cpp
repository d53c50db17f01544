#include "support/hang_watch.hpp"

#include "support/long_run.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace rowlock::test {

namespace {

void set_alarm(std::chrono::milliseconds in) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(in);
  itimerval once{};
  once.it_value.tv_sec = seconds.count();
  once.it_value.tv_usec = std::chrono::microseconds{in - seconds}.count();
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

// The text that is written when the alarm goes off. The text changes only while no alarm is set.
std::string& last_words() {
  static std::string text;
  return text;
}

// Calls only what a signal handler may call.
void give_up(int) {
  const auto& text = last_words();
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
  ::_exit(1);
}

}  // namespace

std::chrono::milliseconds time_per_test() {
  return is_long_run() ? std::chrono::minutes{10} : std::chrono::minutes{4};
}

hang_watch::hang_watch(std::chrono::milliseconds limit) : limit_{limit} {
  std::signal(SIGALRM, give_up);
}

hang_watch::~hang_watch() {
  set_alarm({});
  std::signal(SIGALRM, SIG_DFL);
}

void hang_watch::watch(const std::string& test) {
  const auto time = std::to_string(limit_.count()) + " ms";
  // The text has the form of GoogleTest's lines and of the report at the end of a run; scripts/run-tests reads both.
  last_words() = "\n" + test + " did not end within " + time + "\n[  FAILED  ] " + test + " (" + time +
                 ")\n" + std::to_string(passed_) + " passed, " + std::to_string(failed_ + 1) + " failed\n";
  set_alarm(limit_);
}

void hang_watch::OnTestStart(const testing::TestInfo& info) {
  watch(std::string{info.test_suite_name()} + "." + info.name());
}

void hang_watch::OnTestEnd(const testing::TestInfo& info) {
  set_alarm({});
  if (info.result()->Passed()) ++passed_;
  if (info.result()->Failed()) ++failed_;
}

}  // namespace rowlock::test
