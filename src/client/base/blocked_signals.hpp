// Signals belong to the application. While this object lives, the calling thread and the threads that it
// starts receive none.
#pragma once

#include <rowlock/config.hpp>

#include <pthread.h>

#include <csignal>

namespace rowlock::client_layer {

class blocked_signals {
 public:
  blocked_signals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace rowlock::client_layer
