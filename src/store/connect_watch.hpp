// Lets another thread break off an attempt to connect that gets no answer.
#pragma once

#include <functional>
#include <mutex>

namespace rowlock::store {

// Of one attempt. Thread-safe.
class connect_watch {
 public:
  connect_watch() = default;
  connect_watch(const connect_watch&) = delete;
  connect_watch& operator=(const connect_watch&) = delete;

  // A part of the attempt that may wait for the server. `interrupt` ends that wait, from another thread, and
  // must not throw; it is not called any more when this is destroyed. Throws error(unreachable) when the
  // attempt has been broken off before.
  class step {
   public:
    step(connect_watch& watch, std::function<void()> interrupt);
    ~step();
    step(const step&) = delete;
    step& operator=(const step&) = delete;

   private:
    connect_watch& watch_;
  };

  // Any thread. The step that is under way ends, and no other begins.
  void interrupt() noexcept;
  bool is_interrupted() const;

 private:
  mutable std::mutex mutex_;
  std::function<void()> interrupt_;
  bool interrupted_ = false;
};

}  // namespace rowlock::store
