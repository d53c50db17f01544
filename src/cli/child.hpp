// A command that runs while a lock is held. It has its own process group: all its processes are ended when
// the lock is lost, and when this process dies.
#pragma once

#include "cli/group_guard.hpp"
#include "cli/terminal.hpp"

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::cli {

// The command could not be executed; the code is the shell's, 126 or 127, or unavailable: no process could be made.
class not_started : public std::runtime_error {
 public:
  not_started(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

class child {
 public:
  // Starts words[0], found in PATH, with this environment and signal mask. On a terminal its group becomes
  // the foreground group. If this process dies by SIGKILL, the group dies too: the kernel kills the command
  // when the thread that calls this ends, so that thread must live as long as the child; a guard process
  // kills the others. Throws not_started.
  child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
        const sigset_t& mask);
  ~child();  // kills its group if it still runs
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // Sends the signal to the whole group, even if the command itself has ended. A process of another user does not get
  // it, unless this process may signal that user's processes.
  void send(int signal) noexcept;
  // A running process of the group to which this process may send no signal. Empty: there is none, or /proc hides it.
  std::optional<pid_t> out_of_reach() const;
  // Leaves the group to itself: the destructor neither kills it nor waits for it.
  void abandon() noexcept;
  // Does not wait. Also does the work of a shell: a command that waits for the terminal gets it, and when the
  // terminal stops the command (Ctrl-Z), this process stops too. When this process continues, the command stays
  // stopped until continue_stopped(), so that its hold can be checked first.
  bool ended();
  void continue_stopped() noexcept;
  bool group_ended() const noexcept;  // and no other process of the group runs
  int exit_code() const noexcept;  // the command's, or 128 + the signal that ended it. Requires: it has ended

 private:
  void stopped_by(int signal) noexcept;
  void wait() noexcept;
  void reaped() noexcept;

  terminal terminal_;
  pid_t pid_ = -1;  // and its group's
  group_guard guard_;
  int status_ = 0;
  bool ended_ = false;
  bool abandoned_ = false;
  bool is_to_continue_ = false;
};

// This process's environment without ROWLOCK_URL*, which hold secrets, and with the name and the token.
std::vector<std::string> child_environment(const std::string& name, long long token);

}  // namespace rowlock::cli
