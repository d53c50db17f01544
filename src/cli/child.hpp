// A command that runs while a lock is held, in a process group of its own: what it starts ends with it when
// the lock is lost, and when this process dies.
#pragma once

#include "cli/terminal.hpp"

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::cli {

// The command could not be executed; the code is the shell's, 126 or 127.
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
  // Starts words[0], looked for in PATH, with that environment and signal mask. Where it is used from a
  // terminal, its group becomes the foreground group. A SIGKILL of this process kills the group: the kernel
  // kills the command, watching the thread that calls this, which must live as long as the child shall; a
  // process beside it kills the others.
  // Throws not_started, error(internal) when no process could be made.
  child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
        const sigset_t& mask);
  ~child();  // kills its group if it still runs
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // To the whole group, also when the command itself has ended.
  void send(int signal) noexcept;
  // Does not wait. Also does what a shell would: a command that waits for the terminal gets it, and when the
  // terminal stops the command (Ctrl-Z), this process stops as well and both are continued together.
  bool ended();
  bool group_ended() const noexcept;  // nor does another process of the group run
  int exit_code() const noexcept;     // its own, or 128 + the signal that ended it; once it has ended

 private:
  void start_guard();
  void end_guard() noexcept;
  void stopped_by(int signal) noexcept;
  void wait() noexcept;
  void reaped() noexcept;

  terminal terminal_;
  pid_t pid_ = -1;  // and its group's
  pid_t guard_ = -1;
  int guard_pipe_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// This process's environment without ROWLOCK_URL*, which hold secrets, and with the name and the token.
std::vector<std::string> child_environment(const std::string& name, long long token);

}  // namespace rowlock::cli
