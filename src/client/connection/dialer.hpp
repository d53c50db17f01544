// Connects, with each attempt on its own thread, so that a caller waits no longer than connect_timeout
// although name resolution and MySQL's login cannot be interrupted.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/base/detached_threads.hpp"
#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <condition_variable>
#include <exception>
#include <memory>

namespace rowlock::client_layer {

// Thread-safe. May be destroyed while an attempt that was left behind goes on.
class dialer {
 public:
  explicit dialer(client_environment& environment) : environment_(environment) {}

  // Throws what the store throws, and error(unreachable) if the time is up, the client is closed, too many
  // earlier attempts still hang, or no thread can be started. An attempt that hangs is left behind; a
  // connection that it makes later is closed.
  std::unique_ptr<store::session> connect(std::shared_ptr<store::database> database);
  // Ends all waits.
  void close();

 private:
  struct result {
    std::unique_ptr<store::session> made;
    std::exception_ptr failure;
    bool is_over = false;
    bool is_left = false;  // nobody waits for it
  };
  class attempt {
   public:
    store::connect_watch watch;

   private:
    friend class dialer;
    result result_;
  };

  // What the threads of attempts need. They keep nothing else alive.
  struct exchange {
    void dial(store::database& database, attempt& one);
    // The annotations of an attempt cannot name the mutex that guards its result, so this function alone
    // accesses the result.
    result& of(attempt& one) ROWLOCK_REQUIRES(mutex) { return one.result_; }

    detached_threads threads;
    model::annotated_mutex mutex;  // guards the attempts too, except their watches
    std::condition_variable changed;
    int left_behind ROWLOCK_GUARDED_BY(mutex) = 0;
    bool closed ROWLOCK_GUARDED_BY(mutex) = false;
  };

  error too_late(const result& one, bool closed) const;

  client_environment& environment_;
  std::shared_ptr<exchange> exchange_ = std::make_shared<exchange>();
};

}  // namespace rowlock::client_layer
