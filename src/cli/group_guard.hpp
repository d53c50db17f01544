// A process that kills a process group when this process ends, even by SIGKILL.
#pragma once

#include <sys/types.h>

namespace rowlock::cli {

// The guard's name and arguments, as ps and pkill see them, do not mention rowlock: `pkill -9 rowlock` and
// `pkill -9 -f rowlock` must not end it together with this process. main() gives its arguments, whose memory the guard
// overwrites in its own copy. Without this call the guard keeps the arguments of this process.
void remember_arguments(int count, char** words) noexcept;

class group_guard {
 public:
  group_guard() = default;
  ~group_guard();  // ends the guard; the group is left alone
  group_guard(const group_guard&) = delete;
  group_guard& operator=(const group_guard&) = delete;

  // If no process or pipe can be made, there is no guard; keep() tries again.
  void start(pid_t group) noexcept;
  // Replaces a guard that somebody has ended. Does nothing before start().
  void keep() noexcept;

 private:
  pid_t group_ = -1;
  pid_t guard_ = -1;
  int pipe_ = -1;  // its end closes the guard's input
};

}  // namespace rowlock::cli
