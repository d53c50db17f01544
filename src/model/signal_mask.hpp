// Which signals a thread blocks, for as long as an object lives.
#pragma once

#include <pthread.h>

#include <csignal>

namespace rowlock::model {

inline sigset_t all_signals() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  return all;
}

inline sigset_t only_signal(int number) noexcept {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  return one;
}

// Blocks or unblocks signals in the thread that makes it, and in threads that this one starts meanwhile. The destructor
// restores the mask from before; the same thread must call it. Async-signal-safe.
class signal_mask {
 public:
  // how: SIG_BLOCK or SIG_UNBLOCK.
  signal_mask(int how, const sigset_t& signals) noexcept { ::pthread_sigmask(how, &signals, &before_); }
  ~signal_mask() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signal_mask(const signal_mask&) = delete;
  signal_mask& operator=(const signal_mask&) = delete;

 private:
  sigset_t before_;
};

}  // namespace rowlock::model
