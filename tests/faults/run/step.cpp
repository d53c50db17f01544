#include "step.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

namespace rowlock::test {

namespace {

volatile std::sig_atomic_t caught = 0;
std::chrono::seconds longest{0};
// A signal handler reads the text, so it is no std::string.
char last_words[256];

void set_alarm(std::chrono::seconds in) {
  itimerval once{};
  once.it_value.tv_sec = in.count();
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

void catch_signal(int number) {
  caught = number;
}

// Calls only what a signal handler may call.
void give_up(int) {
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, last_words, std::strlen(last_words));
  ::_exit(1);
}

}  // namespace

void end_on_signals(std::chrono::seconds longest_step) {
  longest = longest_step;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) std::signal(number, catch_signal);
  std::signal(SIGALRM, give_up);
  std::signal(SIGPIPE, SIG_IGN);
}

void begin_step(const std::string& what) {
  if (caught != 0) throw interrupted("interrupted by a signal");
  set_alarm(0s);
  const auto text = "rowlock_faults: this step does not end: " + what + "\n";
  const auto size = std::min(text.size(), sizeof last_words - 1);
  std::memcpy(last_words, text.data(), size);
  last_words[size] = '\0';
  set_alarm(longest);
}

void until(const std::string& what, const std::function<bool()>& is_so, std::chrono::milliseconds limit) {
  begin_step(what);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!is_so()) {
    if (caught != 0) throw interrupted("interrupted by a signal");
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("not within " + std::to_string(limit.count()) + " ms: " + what);
    }
    std::this_thread::sleep_for(5ms);
  }
}

void pause(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  until(
      "a pause ends", [&] { return std::chrono::steady_clock::now() >= end; }, time + 10s);
}

}  // namespace rowlock::test
