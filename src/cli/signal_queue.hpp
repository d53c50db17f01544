// Signals that are read instead of handled: those that a child gets too, and SIGCHLD. Without those that
// the caller has told this process to ignore.
#pragma once

#include <csignal>
#include <optional>

namespace rowlock::cli {

// Blocks them in the calling thread and in threads that it starts later, until this is destroyed.
class signal_queue {
 public:
  signal_queue();
  ~signal_queue();
  signal_queue(const signal_queue&) = delete;
  signal_queue& operator=(const signal_queue&) = delete;

  int descriptor() const noexcept { return descriptor_; }  // readable when a signal is there
  std::optional<int> take();                               // its number; does not wait
  const sigset_t& mask_before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace rowlock::cli
