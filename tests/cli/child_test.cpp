#include "cli/child.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::test {

namespace {

// Runs in a session of its own, so that SIGTSTP reaches nothing else. This process's group is orphaned there,
// so SIGTSTP does not stop it.
[[noreturn]] void stop_and_continue() {
  setsid();
  alarm(60);
  sigset_t none;
  sigemptyset(&none);
  cli::child command{{"sleep", "600"}, {}, none};
  command.send(SIGTSTP);
  siginfo_t seen{};
  waitid(P_ALL, 0, &seen, WSTOPPED | WNOWAIT);
  const auto pid = static_cast<id_t>(seen.si_pid);
  if (command.ended()) _exit(1);
  seen.si_pid = 0;
  waitid(P_PID, pid, &seen, WCONTINUED | WNOHANG | WNOWAIT);
  if (seen.si_pid != 0) _exit(2);
  command.continue_stopped();
  if (waitid(P_PID, pid, &seen, WCONTINUED) != 0) _exit(3);
  command.send(SIGKILL);
  _exit(0);
}

// The descriptor is like that of a connection that another thread is making when the command starts.
[[noreturn]] void run_beside_an_open_descriptor() {
  alarm(60);
  cli::remember_inherited_descriptors();
  const int own = open("/dev/null", O_RDONLY);
  sigset_t none;
  sigemptyset(&none);
  cli::child command{{"test", "!", "-e", "/proc/self/fd/" + std::to_string(own)}, {}, none};
  while (!command.ended()) {
    siginfo_t seen{};
    waitid(P_ALL, 0, &seen, WEXITED | WNOWAIT);
  }
  _exit(command.exit_code());
}

}  // namespace

TEST(child, gets_no_descriptor_that_was_opened_since_the_start) {
  EXPECT_EXIT(run_beside_an_open_descriptor(), testing::ExitedWithCode(0), "");
}

// Only so can rowlock check the hold before the command runs again.
TEST(child, that_the_terminal_has_stopped_stays_stopped_until_it_is_continued) {
  EXPECT_EXIT(stop_and_continue(), testing::ExitedWithCode(0), "");
}

}  // namespace rowlock::test
