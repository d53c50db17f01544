#include "cli/child.hpp"

#include "cli/exit_code.hpp"
#include "cli/sigpipe.hpp"
#include "cli/text.hpp"
#include "model/signal_mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

struct descriptor_range {
  unsigned first;
  unsigned last;
};

// The numbers between the inherited descriptors. A plain array, because it is read between fork and exec.
descriptor_range* own_ranges = nullptr;
std::size_t own_count = 0;

std::vector<unsigned> open_descriptors() {
  std::vector<unsigned> result;
  std::error_code unreadable;
  std::filesystem::directory_iterator each{"/proc/self/fd", unreadable};
  const std::filesystem::directory_iterator end;
  for (; !unreadable && each != end; each.increment(unreadable)) {
    result.push_back(static_cast<unsigned>(std::stoul(each->path().filename().string())));
  }
  each = end;
  // One of these was the descriptor of the folder itself, which is closed now.
  std::erase_if(result, [](unsigned one) { return fcntl(static_cast<int>(one), F_GETFD) < 0; });
  std::ranges::sort(result);
  return result;
}

constexpr std::string_view guard_name = "command-guard";  // the kernel shows 15 characters of it

char* arguments_begin = nullptr;
std::size_t arguments_size = 0;

// Calls only what a signal handler may call.
void rename_to_guard() {
  if (arguments_size > 0) {
    std::memset(arguments_begin, 0, arguments_size);
    // One byte stays zero, or the kernel would show the environment after it.
    std::memcpy(arguments_begin, guard_name.data(), std::min(guard_name.size(), arguments_size - 1));
  }
  prctl(PR_SET_NAME, guard_name.data());
}

// Waits until the other end of the pipe closes, which also happens when the process there is killed. Calls only what a
// signal handler may call.
[[noreturn]] void guard(pid_t group, int end_pipe) {
  rename_to_guard();
  setsid();  // a terminal's signals are not meant for the guard
  for (int other = 0; other < end_pipe; ++other) close(other);
  close_range(static_cast<unsigned>(end_pipe) + 1, ~0U, 0);
  char nothing = 0;
  while (read(end_pipe, &nothing, 1) < 0 && errno == EINTR) {
  }
  kill(-group, SIGKILL);
  _exit(0);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Runs between fork and exec, in a copy of a process with threads, so it calls only what a signal handler may
// call. The command starts when the other end of the gate closes.
[[noreturn]] void execute(char* const* words, char* const* environment, const sigset_t& mask, pid_t parent,
                          const terminal* foreground, int failure_pipe, const int gate[2]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(by_signal + SIGKILL);  // the parent died before the line above
  setpgid(0, 0);
  if (foreground) foreground->give_to(getpid());
  close(gate[1]);
  char nothing = 0;
  while (read(gate[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  restore_sigpipe();
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  close_own_descriptors_on_exec();
  execvpe(words[0], words, environment);
  const int failure = errno;
  [[maybe_unused]] const auto written = write(failure_pipe, &failure, sizeof failure);
  _exit(no_command);
}

// Stops the process or, with 0, this process's group. Unlike SIGSTOP, the kernel ignores SIGTSTP where no shell could
// continue this process (an orphaned process group); then it returns false. The caller may block SIGTSTP (queued_stops).
bool stop_like_terminal(pid_t process) {
  // SIGCONT continues this process all the same, and stays pending.
  const model::signal_mask blocked{SIG_BLOCK, model::only_signal(SIGCONT)};
  const model::signal_mask unblocked{SIG_UNBLOCK, model::only_signal(SIGTSTP)};
  kill(process, SIGTSTP);
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGCONT) == 1;
}

// Whether the process is in the group and runs. A zombie does not run.
bool runs_in_group(pid_t process, pid_t group) {
  std::string text;
  std::getline(std::ifstream{fmt::format("/proc/{}/stat", process)}, text);
  // The process's name, in parentheses, may contain any character.
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return false;
  char state = 'X';
  pid_t parent = 0;
  pid_t own_group = 0;
  std::istringstream{text.substr(after_name + 1)} >> state >> parent >> own_group;
  return own_group == group && state != 'Z' && state != 'X';
}

}  // namespace

void remember_inherited_descriptors() {
  const auto inherited = open_descriptors();
  if (inherited.empty()) return;  // there is no /proc
  static std::vector<descriptor_range> between;
  unsigned next = STDERR_FILENO + 1;
  for (const unsigned one : inherited) {
    if (one > next) between.push_back({next, one - 1});
    next = std::max(next, one + 1);
  }
  between.push_back({next, ~0U});
  own_ranges = between.data();
  own_count = between.size();
}

void close_own_descriptors_on_exec() noexcept {
  // A kernel before 5.11 does not know the flag.
  for (std::size_t i = 0; i < own_count; ++i)
    close_range(own_ranges[i].first, own_ranges[i].last, CLOSE_RANGE_CLOEXEC);
}

void remember_arguments(int count, char** words) noexcept {
  arguments_begin = words[0];
  // The kernel puts the arguments one after the other.
  char* end = arguments_begin;
  for (int i = 0; i < count && words[i] == end; ++i) end += std::strlen(words[i]) + 1;
  arguments_size = static_cast<std::size_t>(end - arguments_begin);
}

group_guard::~group_guard() {
  if (guard_ > 0) {
    kill(guard_, SIGKILL);
    while (waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) close(pipe_);
}

void group_guard::start(pid_t group) noexcept {
  group_ = group;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  guard_ = fork();
  if (guard_ == 0) {
    close(ends[1]);
    guard(group, ends[0]);
  }
  close(ends[0]);
  if (guard_ > 0) {
    pipe_ = ends[1];
  } else {
    close(ends[1]);
  }
}

void group_guard::keep() noexcept {
  if (group_ < 0 || (guard_ > 0 && waitpid(guard_, nullptr, WNOHANG) == 0)) return;
  if (pipe_ >= 0) close(pipe_);
  guard_ = pipe_ = -1;
  start(group_);
}

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
  if (pid_ == 0) execute(arguments.data(), variables.data(), mask, parent, foreground, failure_pipe[1], gate);
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
  if (!ended_ && getpgid(pid_) != pid_) kill(pid_, signal);  // the command has left its group
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
  const bool was_in_front = terminal_.take_back_from(pid_);
  // Whoever stops a command elsewhere wants to continue it later, with its lock. But who sits at the terminal could do
  // nothing there if only the command stood still.
  if (signal == SIGSTOP && !was_in_front) return;
  const bool is_pause = signal == SIGTSTP || signal == SIGSTOP;
  // A process of the group that ignores the signal would go on while this process stands still and renews nothing.
  if (is_pause || !terminal_.is_ours()) send(SIGSTOP);
  bool was_stopped = true;
  if (is_pause) {
    was_stopped = stop_like_terminal(was_in_front ? 0 : getpid());
  } else if (!terminal_.is_ours()) {
    raise(SIGSTOP);  // a command that goes on without the terminal would only be stopped again
  }
  // A command that did not have the terminal leaves it to the other processes of a pipeline until it reads from it.
  const bool is_due = signal == SIGTSTP && !was_in_front ? terminal_.is_used() : terminal_.is_ours();
  if (is_due) terminal_.give_to(pid_);
  is_to_continue_ = was_stopped || signal != SIGSTOP;
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

std::vector<std::string> child_environment(const hold& held) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.starts_with("ROWLOCK_URL") || text.starts_with("ROWLOCK_LISTEN_URL=") ||
        text.starts_with("ROWLOCK_NAME=") || text.starts_with("ROWLOCK_TOKEN=") ||
        text.starts_with("ROWLOCK_HOLD=")) {
      continue;
    }
    result.emplace_back(text);
  }
  result.push_back("ROWLOCK_NAME=" + held.name());
  result.push_back("ROWLOCK_TOKEN=" + held.token().to_string());
  result.push_back("ROWLOCK_HOLD=" + held.id().to_string());
  return result;
}

}  // namespace rowlock::cli
