#include "cli/child.hpp"

#include "cli/exit_code.hpp"
#include "cli/inherited_descriptors.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

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

// Runs between fork and exec, in a copy of a process with threads, so it calls only what a signal handler may
// call. It starts when the other end of the gate closes.
[[noreturn]] void become(char* const* words, char* const* environment, const sigset_t& mask, pid_t parent,
                         const terminal* foreground, int failure_pipe, const int gate[2]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(by_signal + SIGKILL);  // it died before the line above
  setpgid(0, 0);
  if (foreground) foreground->give_to(getpid());
  close(gate[1]);
  char nothing = 0;
  while (read(gate[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  close_own_descriptors_on_exec();
  execvpe(words[0], words, environment);
  const int failure = errno;
  [[maybe_unused]] const auto written = write(failure_pipe, &failure, sizeof failure);
  _exit(no_command);
}

// Not if it is a zombie.
bool runs_in_group(pid_t process, pid_t group) {
  std::string text;
  std::getline(std::ifstream{fmt::format("/proc/{}/stat", process)}, text);
  // The name may contain any character.
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return false;
  char state = 'X';
  pid_t parent = 0;
  pid_t own_group = 0;
  std::istringstream{text.substr(after_name + 1)} >> state >> parent >> own_group;
  return own_group == group && state != 'Z' && state != 'X';
}

}  // namespace

child::child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
             const sigset_t& mask) {
  const auto arguments = pointers(words);
  const auto variables = pointers(environment);
  int failure_pipe[2];  // exec closes it; if exec fails, errno is written to it
  int gate[2];
  if (pipe2(failure_pipe, O_CLOEXEC) != 0 || pipe2(gate, O_CLOEXEC) != 0)
    throw not_started(unavailable, fmt::format("no pipe can be made: {}", strerror(errno)));

  const pid_t parent = getpid();
  const auto* foreground = terminal_.is_used() ? &terminal_ : nullptr;
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), variables.data(), mask, parent, foreground, failure_pipe[1], gate);
  const int fork_failure = errno;
  if (pid_ > 0) {
    setpgid(pid_, pid_);
    guard_.start(pid_);
  }
  close(gate[0]);
  close(gate[1]);
  close(failure_pipe[1]);
  int failure = 0;
  const bool failed = pid_ > 0 && read(failure_pipe[0], &failure, sizeof failure) == sizeof failure;
  close(failure_pipe[0]);
  if (pid_ < 0)
    throw not_started(unavailable, fmt::format("cannot start a process: {}", strerror(fork_failure)));
  if (failed) {
    wait();
    throw not_started(failure == ENOENT ? no_command : not_executable,
                      fmt::format("cannot run '{}': {}", printable(words[0]), strerror(failure)));
  }
}

child::~child() {
  if (ended_ || abandoned_) return;
  send(SIGKILL);
  wait();
}

void child::wait() noexcept {
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  reaped();
}

void child::reaped() noexcept {
  ended_ = true;
  const bool was_in_front = terminal_.take_back_from(pid_);
  // Ctrl-C reached only the command; a script around this process must notice it too.
  const int signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
  if (was_in_front && (signal == SIGINT || signal == SIGQUIT)) kill(0, signal);
}

void child::send(int signal) noexcept {
  kill(-pid_, signal);
  if (!ended_ && getpgid(pid_) != pid_) kill(pid_, signal);  // it has left its group
}

std::optional<pid_t> child::out_of_reach() const {
  const auto is_foreign = [](pid_t process) { return kill(process, 0) != 0 && errno == EPERM; };
  if (!ended_ && is_foreign(pid_)) return pid_;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator each{"/proc", unreadable}, end; !unreadable && each != end;
       each.increment(unreadable)) {
    const auto process = static_cast<pid_t>(std::strtol(each->path().filename().c_str(), nullptr, 10));
    if (process > 0 && runs_in_group(process, pid_) && is_foreign(process)) return process;
  }
  return {};
}

void child::abandon() noexcept {
  abandoned_ = true;
}

bool child::ended() {
  guard_.keep();
  while (!ended_ && waitpid(pid_, &status_, WNOHANG | WUNTRACED) == pid_) {
    if (WIFSTOPPED(status_)) {
      stopped_by(WSTOPSIG(status_));
    } else {
      reaped();
    }
  }
  return ended_;
}

void child::stopped_by(int signal) noexcept {
  if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU) return;
  const bool was_in_front = terminal_.take_back_from(pid_);
  if (signal == SIGTSTP) {
    // The kernel ignores it where no shell could continue this process (an orphaned process group), unlike SIGSTOP.
    kill(was_in_front ? 0 : getpid(), SIGTSTP);
  } else if (!terminal_.is_ours()) {
    raise(SIGSTOP);  // a command that goes on without the terminal would only be stopped again
  }
  if (terminal_.is_ours()) terminal_.give_to(pid_);
  is_to_continue_ = true;
}

void child::continue_stopped() noexcept {
  if (std::exchange(is_to_continue_, false)) send(SIGCONT);
}

bool child::group_ended() const noexcept {
  return kill(-pid_, 0) != 0 && errno == ESRCH;
}

int child::exit_code() const noexcept {
  return WIFSIGNALED(status_) ? by_signal + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::vector<std::string> child_environment(const std::string& name, long long token) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.starts_with("ROWLOCK_URL") || text.starts_with("ROWLOCK_LISTEN_URL=") ||
        text.starts_with("ROWLOCK_NAME=") || text.starts_with("ROWLOCK_TOKEN=")) {
      continue;
    }
    result.emplace_back(text);
  }
  result.push_back("ROWLOCK_NAME=" + name);
  result.push_back("ROWLOCK_TOKEN=" + std::to_string(token));
  return result;
}

}  // namespace rowlock::cli
