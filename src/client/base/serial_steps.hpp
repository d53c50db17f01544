// Work in steps, for which no thread waits: each step begins something, and the thread that completes it runs
// the next step.
#pragma once

#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace rowlock::client_layer {

// Thread-safe. One step is run at a time, and sees what the steps before it have written.
//
//   event                     | no step runs               | a step runs
//   what the latest step      | step() in this thread      | step() behind it, in the thread of that step
//   waits for has come; or    |                            |
//   wake()                    |                            |
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
  void start() { wake(); }
  // Runs a step, whatever the latest one waits for. Called in a step, it makes another one follow.
  void wake() {
    {
      const model::annotated_lock lock{mutex_};
      happened_ = true;
    }
    run();
  }
  void stop() {
    {
      const model::annotated_lock lock{mutex_};
      stopped_ = true;
    }
    run();
  }
  // Call it in a step. What the step waits for must call the returned function, with no mutex locked. The
  // function keeps this object alive.
  std::function<void()> next_step() {
    const model::annotated_lock lock{mutex_};
    return [self = shared_from_this(), awaited = ++step_] { self->happened(awaited); };
  }
  // From now on no step is run.
  void end() {
    const model::annotated_lock lock{mutex_};
    over_ = true;
  }
  bool is_over() const {
    const model::annotated_lock lock{mutex_};
    return over_;
  }
  // Waits until no step runs. Returns false at once if this thread is in a step.
  bool wait_for_step() {
    model::annotated_lock lock{mutex_};
    if (runner_ == std::this_thread::get_id()) return false;
    changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !runner_; });
    return true;
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
    }
    run();
  }
  void run() {
    {
      const model::annotated_lock lock{mutex_};
      if (runner_) return;
      runner_ = std::this_thread::get_id();
    }
    for (;;) {
      bool stops = false;
      {
        const model::annotated_lock lock{mutex_};
        if (over_ || !(happened_ || stopped_)) {
          runner_.reset();
          changed_.notify_all();
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

  mutable model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::thread::id> runner_ ROWLOCK_GUARDED_BY(mutex_);  // the thread that is in run()
  bool happened_ ROWLOCK_GUARDED_BY(mutex_) = false;                  // what the latest step awaits has come
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool over_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t step_ ROWLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace rowlock::client_layer
