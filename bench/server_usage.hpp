// The processor time of a database's server on this machine. The server is found by its process id, so another
// server of the same kind is not counted.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace rowlock::bench {

class server_usage {
 public:
  // Empty: the server has no process on this machine, or none that is known.
  explicit server_usage(std::optional<pid_t> process) : process_{process} {}

  // What the server has used until now: the process with all its threads, its children, and the children that have
  // ended. Only differences have a meaning. Empty if /proc does not show the process.
  std::optional<std::chrono::nanoseconds> cpu_time() const;

 private:
  std::optional<pid_t> process_;
};

// The parent of a process, as /proc shows it. Empty if it does not, or if the two run different programs.
std::optional<pid_t> parent_of_same_program(pid_t process);

// The command line of a process, its words separated by NUL; "" if /proc does not show the process.
std::string command_line_of(pid_t process);

}  // namespace rowlock::bench
