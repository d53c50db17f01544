// The controlling terminal, which serves one process group at a time: its foreground group.
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace rowlock::cli {

// How many characters fit into a line of standard output if it is a terminal; otherwise no limit.
std::size_t terminal_columns();

// Used by one thread.
class terminal {
 public:
  terminal();  // opens it, if there is one
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // Whether this process's group is in the foreground.
  bool is_ours() const noexcept;
  // Whether standard input and output are this terminal, and this process's group is in the foreground.
  bool is_used() const noexcept;
  // Makes the group the foreground group. Async-signal-safe.
  void give_to(pid_t group) const noexcept;
  // If `group` is the foreground group, makes this process's group the foreground group; otherwise returns false.
  bool take_back_from(pid_t group) const noexcept;

 private:
  int descriptor_;
};

}  // namespace rowlock::cli
