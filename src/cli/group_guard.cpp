#include "cli/group_guard.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

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

// Waits until the other end of the pipe closes, which also happens when its process is killed. Calls only
// what a signal handler may call.
[[noreturn]] void guard(pid_t group, int end_pipe) {
  rename_to_guard();
  setsid();  // a terminal's signals are not meant for it
  for (int other = 0; other < end_pipe; ++other) close(other);
  close_range(static_cast<unsigned>(end_pipe) + 1, ~0U, 0);
  char nothing = 0;
  while (read(end_pipe, &nothing, 1) < 0 && errno == EINTR) {
  }
  kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

void remember_arguments(int count, char** words) noexcept {
  arguments_begin = words[0];
  // The kernel puts them one after the other.
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

}  // namespace rowlock::cli
