// The controlling terminal, which serves one process group at a time: its foreground group.
#pragma once

#include <sys/types.h>

namespace rowlock::cli {

// Used by one thread.
class terminal {
 public:
  terminal();  // opens it, where there is one
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // Whether this process's group is in the foreground.
  bool is_ours() const noexcept;
  // Whether input comes from it and output goes to it, and this process's group is in the foreground.
  bool is_used() const noexcept;
  // Makes that group the foreground group. Async-signal-safe.
  void give_to(pid_t group) const noexcept;
  // Makes this process's group the foreground group if `group` is. False: it was not.
  bool take_back_from(pid_t group) const noexcept;

 private:
  int descriptor_;
};

}  // namespace rowlock::cli
