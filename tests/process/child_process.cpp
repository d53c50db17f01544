#include "child_process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace rowlock::test {

namespace {

// Runs between fork and exec, so it calls only what is safe there.
[[noreturn]] void become(char* const* arguments, const child_setup& setup, pid_t parent) {
  if (setup.in >= 0) ::dup2(setup.in, STDIN_FILENO);
  if (setup.out >= 0) ::dup2(setup.out, STDOUT_FILENO);
  if (setup.err >= 0) ::dup2(setup.err, STDERR_FILENO);
  if (setup.user != 0 &&
      (::setgroups(0, nullptr) != 0 || ::setgid(setup.group) != 0 || ::setuid(setup.user) != 0)) {
    ::_exit(127);
  }
  // This must follow the change of user, which would clear it.
  ::prctl(PR_SET_PDEATHSIG, setup.at_parents_death);
  if (::getppid() != parent) ::_exit(127);
  // The child must not inherit the tests' own connections.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

}  // namespace

child_process::child_process(const std::vector<std::string>& arguments, const child_setup& setup) {
  std::vector<char*> values;
  for (const auto& argument : arguments) values.push_back(const_cast<char*>(argument.c_str()));
  values.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(values.data(), setup, parent);
}

child_process::~child_process() {
  if (!reaped_) kill();
}

void child_process::signal(int number) const {
  if (!reaped_) ::kill(pid_, number);
}

bool child_process::has_ended() {
  if (!reaped_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
  return reaped_;
}

int child_process::wait() {
  while (!reaped_) {
    if (::waitpid(pid_, &status_, 0) == pid_ || errno != EINTR) reaped_ = true;
  }
  return status_;
}

void child_process::kill() {
  signal(SIGKILL);
  wait();
}

namespace {

// The state as /proc shows it: 'R', 'S', 'T', 'Z'…; 0: there is no such process.
char state_of(pid_t pid) {
  std::string stat;
  std::getline(std::ifstream{"/proc/" + std::to_string(pid) + "/stat"}, stat);
  const auto end_of_name = stat.rfind(") ");
  return end_of_name == std::string::npos ? '\0' : stat[end_of_name + 2];
}

}  // namespace

void until_stopped(pid_t pid) {
  constexpr std::string_view ended_or_stopped{"T\0ZX", 4};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (ended_or_stopped.find(state_of(pid)) == std::string_view::npos) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the process does not stop");
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

}  // namespace rowlock::test
