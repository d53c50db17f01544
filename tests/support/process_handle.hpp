// A process that the test has not started itself.
#pragma once

#include <sys/types.h>

namespace rowlock::test {

// The kernel gives the number of a process that has ended to another one, within seconds on a machine that runs the
// tests. A handle stays that of the process which had the number when it was made. Thread-safe.
class process_handle {
 public:
  process_handle() = default;  // of a process that has ended
  explicit process_handle(pid_t pid);
  ~process_handle();
  process_handle(process_handle&& other) noexcept;
  process_handle& operator=(process_handle&& other) noexcept;

  pid_t pid() const noexcept { return pid_; }
  // Whether it has not ended, also if its end was not asked for by its parent.
  bool runs() const;
  // Waits until it has ended. Throws std::runtime_error after ten seconds.
  void wait() const;
  // Sends the signal. False: it has ended, or may not be signalled.
  bool signal(int number) const;

 private:
  pid_t pid_ = 0;
  int descriptor_ = -1;
};

}  // namespace rowlock::test
