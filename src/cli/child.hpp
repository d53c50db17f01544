// A command that runs while a lock is held, the guard of its processes, and the descriptors that it inherits.
#pragma once

#include "cli/terminal.hpp"

#include <rowlock/hold.hpp>

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::cli {

// Remembers which descriptors are open: those that the caller has opened for the command, as in `rowlock run NAME --
// COMMAND 7<file`. The command inherits these, and none that this process opens later. Requires: no other thread runs,
// and this process has opened no descriptor for itself yet.
void remember_inherited_descriptors();

// Makes exec() close every descriptor that was not remembered. This process opens its descriptors so that exec() closes
// them, except that of a connection to MySQL or MariaDB, which a thread may be making right now. Does nothing if none
// was remembered. For use between fork and exec: calls only what a signal handler may call.
void close_own_descriptors_on_exec() noexcept;

// The guard's name and arguments, as ps and pkill see them, do not mention rowlock: `pkill -9 rowlock` and
// `pkill -9 -f rowlock` must not end the guard together with this process. main() gives its arguments, whose
// memory the guard overwrites in its own copy. Without this call the guard keeps the arguments of this
// process.
void remember_arguments(int count, char** words) noexcept;

// A process that kills a process group when this process ends, even by SIGKILL.
class group_guard {
 public:
  group_guard() = default;
  ~group_guard();  // ends the guard; the group goes on
  group_guard(const group_guard&) = delete;
  group_guard& operator=(const group_guard&) = delete;

  // If no process or pipe can be made, there is no guard; keep() tries again.
  void start(pid_t group) noexcept;
  // Replaces a guard that somebody has ended. Does nothing before start().
  void keep() noexcept;

 private:
  pid_t group_ = -1;
  pid_t guard_ = -1;
  int pipe_ = -1;  // when this end closes, the guard acts
};

// The command could not be executed. exit_code() is that of a shell, 126 or 127, or `unavailable` if no process could
// be made.
class not_started : public std::runtime_error {
 public:
  not_started(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// A command that runs while a lock is held. It has its own process group: all its processes are ended when the lock is
// lost, and when this process dies. Used by one thread.
class child {
 public:
  // Starts words[0], found in PATH, with this environment and signal mask. On a terminal its group becomes
  // the foreground group. If this process dies by SIGKILL, the group dies too: the kernel kills the command
  // when the thread that calls this ends, so that thread must live as long as the child; a guard process
  // kills the others. Throws not_started.
  child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
        const sigset_t& mask);
  ~child();  // kills the group if the command still runs
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // Sends the signal to the whole group, even if the command itself has ended. A process of another user does not get
  // the signal, unless this process may signal that user's processes.
  void send(int signal) noexcept;
  // A running process of the group to which this process may send no signal. Empty: there is none, or /proc hides it.
  std::optional<pid_t> out_of_reach() const;
  // Leaves the group to itself: the destructor neither kills it nor waits for it.
  void abandon() noexcept;
  // Returns whether the command has ended. Does not wait. Also does the work of a shell: a command that waits for the
  // terminal gets it, and when the terminal stops the command (Ctrl-Z), this process stops too, and also when SIGSTOP
  // stops a command in the foreground. When this process continues, the command stays stopped until continue_stopped(),
  // so that its hold can be checked first.
  bool ended();
  void continue_stopped() noexcept;
  bool group_ended() const noexcept;  // whether also no other process of the group runs
  int exit_code() const noexcept;  // the command's, or 128 + the signal that ended it. Requires: it has ended

 private:
  void stopped_by(int signal) noexcept;
  void wait() noexcept;
  void reaped() noexcept;

  terminal terminal_;
  pid_t pid_ = -1;  // the id of the command, and of its group
  group_guard guard_;
  int status_ = 0;
  bool ended_ = false;
  bool abandoned_ = false;
  bool is_to_continue_ = false;
};

// This process's environment without ROWLOCK_URL*, which hold secrets, and with the name, the token and the hold's id.
std::vector<std::string> child_environment(const hold& held);

}  // namespace rowlock::cli
