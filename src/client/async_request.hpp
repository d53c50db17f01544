// A request that no thread waits for. When it is settled, the caller's executor runs the continuation.
#pragma once

#include "client/async_waiters.hpp"
#include "client/engine.hpp"
#include "client/promised.hpp"
#include "model/annotated_mutex.hpp"

#include <rowlock/task.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::client_layer {

// Thread-safe. Each request ends once: its continuation runs on the executor, or it is abandoned.
//
//   event                          | it waits for its answer             | it is settled       | it has gone on
//   the answer, or a failure       | settled: the executor is called     | -                   | -
//   the time is up, or it is       | leave(): usually settled without an | -                   | -
//   stopped                        | answer                              |                     |
//   the client is closed           | settled: error(closed)              | -                   | -
//   the executor runs its function | -                                   | the continuation    | -
//   the executor drops or refuses  | -                                   | abandoned           | -
//   abandon()                      | abandoned: what it is granted later | abandoned: what it  | -
//                                  | is released                         | got is released     |
class async_request : public async_wait, public std::enable_shared_from_this<async_request> {
 public:
  using continuation = std::function<void(async_request&)>;

  // Call it once. Throws what the blocking call throws before it sends anything; then no continuation follows.
  void start();
  // Prevents the continuation from beginning. What was granted, or is granted later, is released. Does
  // nothing if the continuation has begun.
  void abandon() noexcept;

  // For async_waiters.
  void give_up() noexcept override;  // also if it was stopped
  void refuse() noexcept override;
  void tell() noexcept override;

 protected:
  async_request(std::shared_ptr<engine> on, std::stop_token stop, executor where, continuation then);

  // Throws error(invalid_argument) for options that only work while a thread waits.
  static void check_without_thread(const acquire_options& how);

  const std::shared_ptr<engine> engine_;
  const std::stop_token stop_;

 private:
  struct ticket;
  void go_on();
  void forget_stop() noexcept;
  void log_failed_executor(const std::exception_ptr& why) const noexcept;

  // Makes the request and sends nothing. Throws if the request is invalid. Returns when its time is up.
  virtual std::optional<instant> prepare() = 0;
  virtual promise_state& answer() = 0;
  virtual void submit() = 0;
  // The time is up, or the request was stopped. True: this call has settled it. False: it was settled before,
  // or still waits for its answer.
  virtual bool leave() noexcept = 0;
  // Nobody waits any more; what it is granted later is released. False: there was an answer before.
  virtual bool detach() noexcept = 0;
  // Nobody takes the answer: releases what it has got. May throw error.
  virtual void drop_answer() = 0;
  virtual void before_told() noexcept {}
  virtual std::string described() const = 0;  // for the log

  executor where_;
  continuation then_;
  // For the executor: made before the request is sent, so that its outcome can be passed on without memory.
  std::shared_ptr<ticket> ticket_;
  task passed_;
  bool prepared_ = false;
  std::atomic<bool> over_{false};      // go_on() or abandon() was called
  model::annotated_mutex stop_mutex_;  // start() may still make the callback while tell() runs
  std::optional<std::stop_callback<std::function<void()>>> on_stop_ ROWLOCK_GUARDED_BY(stop_mutex_);
};

}  // namespace rowlock::client_layer
