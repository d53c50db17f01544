// Work in steps, for which no thread waits: each step begins something, and whatever completes that runs the next
// step, in its own thread.
#pragma once

#include "model/annotated_mutex.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe. One step is run at a time, and sees what the steps before it have written.
//
//   event                     | no step runs               | a step runs
//   what the latest step      | step() in this thread      | step() behind it, in the thread of that step
//   waits for has come        |                            |
//   what an earlier step      | -                          | -
//   waited for has come       |                            |
//   stop()                    | clear() in this thread     | clear() behind it, in the thread of that step
//   a step throws             | -                          | fail()
//   after end()               | -                          | -
class serial_steps : public std::enable_shared_from_this<serial_steps> {
 public:
  serial_steps(const serial_steps&) = delete;
  serial_steps& operator=(const serial_steps&) = delete;
  virtual ~serial_steps() = default;

 protected:
  serial_steps() = default;

  // Runs the first step. Call it once.
  void start() {
    {
      const model::annotated_lock lock{mutex_};
      runs_ = happened_ = true;
    }
    run();
  }
  void stop() {
    {
      const model::annotated_lock lock{mutex_};
      stopped_ = true;
      if (std::exchange(runs_, true)) return;
    }
    run();
  }
  // In a step: what it waits for is to call this, with no mutex locked. It keeps the object alive.
  std::function<void()> next_step() {
    const model::annotated_lock lock{mutex_};
    return [self = shared_from_this(), awaited = ++step_] { self->happened(awaited); };
  }
  // In a step, in clear() or in fail(): no step follows.
  void end() {
    const model::annotated_lock lock{mutex_};
    over_ = true;
  }

 private:
  virtual void step() = 0;
  virtual void fail(const std::exception_ptr& why) = 0;
  virtual void clear() noexcept = 0;

  void happened(std::uint64_t awaited) {
    {
      const model::annotated_lock lock{mutex_};
      if (awaited != step_) return;
      happened_ = true;
      if (std::exchange(runs_, true)) return;
    }
    run();
  }
  void run() {
    for (;;) {
      bool stops = false;
      {
        const model::annotated_lock lock{mutex_};
        if (over_ || !(happened_ || stopped_)) {
          runs_ = false;
          return;
        }
        happened_ = false;
        stops = stopped_;
      }
      if (stops) {
        clear();
        end();
        continue;
      }
      try {
        step();
      } catch (...) {
        fail(std::current_exception());
        end();
      }
    }
  }

  model::annotated_mutex mutex_;
  bool runs_ ROWLOCK_GUARDED_BY(mutex_) = false;      // a thread is in run()
  bool happened_ ROWLOCK_GUARDED_BY(mutex_) = false;  // what the latest step waits for
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool over_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t step_ ROWLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace rowlock::client_layer
