// Lets another thread interrupt an attempt to connect that gets no answer.
#pragma once

#include "model/annotated_mutex.hpp"
#include "model/for_stores.hpp"

#include <functional>

namespace rowlock::store {

// Watches one attempt. Thread-safe.
class connect_watch {
 public:
  connect_watch() = default;
  connect_watch(const connect_watch&) = delete;
  connect_watch& operator=(const connect_watch&) = delete;

  // A part of the attempt that may wait for the server. `interrupt` ends that wait from another thread. It
  // must not throw, and is not called after the step is destroyed. The constructor throws error(unreachable)
  // if the attempt was interrupted before.
  class step {
   public:
    ROWLOCK_FOR_STORES step(connect_watch& watch, std::function<void()> interrupt);
    ROWLOCK_FOR_STORES ~step();
    step(const step&) = delete;
    step& operator=(const step&) = delete;

   private:
    connect_watch& watch_;
  };

  // Any thread. Ends the running step and prevents further steps.
  ROWLOCK_FOR_STORES void interrupt() noexcept;
  ROWLOCK_FOR_STORES bool is_interrupted() const;

 private:
  // What a step's constructor and destructor do. The analysis of thread safety does not look into those two.
  void begin(std::function<void()> interrupt);
  void end();

  mutable model::annotated_mutex mutex_;
  std::function<void()> interrupt_ ROWLOCK_GUARDED_BY(mutex_);
  bool interrupted_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::store
