// A process that is started by a test and never outlives it.
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
  // Starts arguments[0]. Throws std::runtime_error when there is no such process to be made; a program that
  // cannot be started ends with status 127.
  explicit child_process(const std::vector<std::string>& arguments, const child_setup& setup = {});
  // Kills it, also when it is stopped, and reaps it.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  // Waits for its end: the status as waitpid() gives it.
  int wait();
  // SIGKILL, and until it is gone.
  void kill();

 private:
  pid_t pid_;
  bool reaped_ = false;
  int status_ = 0;
};

// Until the process is stopped as by SIGSTOP. Throws after ten seconds.
void until_stopped(pid_t pid);

}  // namespace rowlock::test
