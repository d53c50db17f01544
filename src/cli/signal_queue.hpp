// Signals that are read instead of handled: those to pass on to a child, and SIGCHLD.
#pragma once

#include <csignal>
#include <optional>

namespace rowlock::cli {

struct received_signal {
  int number = 0;
  // Sent by the terminal to its whole foreground group, so that a child in it has got the same one.
  bool from_terminal = false;
};

// Blocks them in the calling thread, and in threads that it starts later, until it is destroyed.
class signal_queue {
 public:
  signal_queue();
  ~signal_queue();
  signal_queue(const signal_queue&) = delete;
  signal_queue& operator=(const signal_queue&) = delete;

  int descriptor() const noexcept { return descriptor_; }  // readable when a signal is there
  std::optional<received_signal> take();                   // does not wait
  const sigset_t& mask_before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace rowlock::cli
