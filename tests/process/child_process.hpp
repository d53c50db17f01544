// A process that a test starts and that never outlives the test.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace rowlock::test {

struct child_setup {
  int in = -1;   // becomes standard input; -1: the parent's
  int out = -1;  // becomes standard output
  int err = -1;
  uid_t user = 0;  // 0: the parent's
  gid_t group = 0;
  int at_parents_death = SIGKILL;
};

class child_process {
 public:
  // Starts arguments[0]. Throws std::runtime_error if no process can be made. A program that cannot be
  // started ends with status 127.
  explicit child_process(const std::vector<std::string>& arguments, const child_setup& setup = {});
  // Kills the process, even a stopped one, and reaps it.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  // Whether the process has ended; does not wait for it.
  bool has_ended();
  // Waits for the process's end. The status is as waitpid() returns it.
  int wait();
  // Sends SIGKILL and waits until the process is gone.
  void kill();

 private:
  pid_t pid_;
  bool reaped_ = false;
  int status_ = 0;
};

// Waits until the process is stopped as by SIGSTOP, or has ended. Throws after ten seconds.
void until_stopped(pid_t pid);

}  // namespace rowlock::test
