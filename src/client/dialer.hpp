// Connects, each attempt on a thread of its own, so that whoever asks is kept no longer than connect_timeout:
// name resolution and MySQL's login hear of no interruption.
#pragma once

#include "client/context.hpp"
#include "client/detached_threads.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

namespace rowlock::client_layer {

// Thread-safe. Part of what each connect() is given as owner.
class dialer {
 public:
  dialer(context& shared, detached_threads& threads) : shared_(shared), threads_(threads) {}

  // Throws what the store throws, and error(unreachable) when the time is up, when the client is closed, when
  // too many earlier attempts still hang or no thread can be started. An attempt that hangs is left behind,
  // and what it makes at last is closed.
  std::unique_ptr<store::session> connect(std::shared_ptr<store::database> database,
                                          std::shared_ptr<const void> owner);
  // Nobody waits any more.
  void close();

 private:
  struct attempt {
    store::connect_watch watch;
    std::unique_ptr<store::session> made;
    std::exception_ptr failure;
    bool is_over = false;
    bool is_left = false;  // nobody waits for it
  };

  void dial(store::database& database, attempt& one);
  error too_late(const attempt& one) const;

  context& shared_;
  detached_threads& threads_;
  std::mutex mutex_;  // guards the attempts too, except their watches
  std::condition_variable changed_;
  int left_behind_ = 0;
  bool closed_ = false;
};

}  // namespace rowlock::client_layer
