#include "cli/child.hpp"

#include "cli/exit_code.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Between fork and exec, in a copy of a process with threads: only what a signal handler may call.
[[noreturn]] void become(char* const* words, char* const* environment, const sigset_t& mask, pid_t parent,
                         int failure_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(by_signal + SIGKILL);  // it died before the line above
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvpe(words[0], words, environment);
  const int failure = errno;
  [[maybe_unused]] const auto written = write(failure_pipe, &failure, sizeof failure);
  _exit(no_command);
}

}  // namespace

child::child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
             const sigset_t& mask) {
  const auto arguments = pointers(words);
  const auto variables = pointers(environment);
  int failure_pipe[2];  // exec closes it; otherwise it tells errno
  if (pipe2(failure_pipe, O_CLOEXEC) != 0)
    throw error(errc::internal, fmt::format("no pipe: {}", strerror(errno)));

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), variables.data(), mask, parent, failure_pipe[1]);
  const int fork_failure = errno;
  close(failure_pipe[1]);
  int failure = 0;
  const bool failed = pid_ > 0 && read(failure_pipe[0], &failure, sizeof failure) == sizeof failure;
  close(failure_pipe[0]);
  if (pid_ < 0)
    throw error(errc::internal, fmt::format("cannot start a process: {}", strerror(fork_failure)));
  if (failed) {
    wait();
    throw not_started(failure == ENOENT ? no_command : not_executable,
                      fmt::format("cannot run '{}': {}", printable(words[0]), strerror(failure)));
  }
}

child::~child() {
  if (ended_) return;
  send(SIGKILL);
  wait();
}

void child::wait() noexcept {
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

void child::send(int signal) noexcept {
  if (!ended_) kill(pid_, signal);
}

bool child::ended() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

int child::exit_code() const noexcept {
  return WIFSIGNALED(status_) ? by_signal + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::vector<std::string> child_environment(const std::string& name, long long token) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.starts_with("ROWLOCK_URL") || text.starts_with("ROWLOCK_NAME=") ||
        text.starts_with("ROWLOCK_TOKEN=")) {
      continue;
    }
    result.emplace_back(text);
  }
  result.push_back("ROWLOCK_NAME=" + name);
  result.push_back("ROWLOCK_TOKEN=" + std::to_string(token));
  return result;
}

}  // namespace rowlock::cli
