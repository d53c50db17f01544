// An acquire for which no thread waits: when it is granted, or has come to nothing, an executor of the
// caller's is asked to go on with it.
#pragma once

#include "client/engine.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

namespace rowlock::client_layer {

// Thread-safe. Each has one end: go_on() on the executor, or abandon().
class async_acquire : public std::enable_shared_from_this<async_acquire> {
 public:
  using executor = std::function<void(std::function<void()>)>;
  using continuation = std::function<void(async_acquire&)>;

  async_acquire(std::shared_ptr<engine> on, const wait_limit& how_long, std::stop_token stop, executor where,
                continuation then);
  async_acquire(const async_acquire&) = delete;
  async_acquire& operator=(const async_acquire&) = delete;
  ~async_acquire();

  // Once. Throws what engine::acquire throws before it asks the database; then nothing follows. The arguments
  // are not looked at any more when the continuation may begin.
  void start(const model::lock_definition& definition, const acquire_options& how, const demand& what);

  // In the continuation, once: what engine::acquire returns or throws.
  hold_ptr take();

  // The continuation shall not begin any more: what was granted, or is granted later, is given back. Nothing
  // happens when it has begun.
  void abandon() noexcept;

  // For the async waiters.
  std::optional<instant> until() const noexcept { return until_; }
  void give_up();  // the time is up, or the wait was stopped
  void refuse();   // the client is closed
  void tell();     // it is settled: asks the executor

 private:
  struct ticket;
  void go_on();
  void forget_stop();

  const std::shared_ptr<engine> engine_;
  const wait_limit how_long_;
  const std::stop_token stop_;
  executor where_;
  continuation then_;
  acquire_ptr operation_;
  std::optional<instant> until_;
  std::atomic<bool> over_{false};  // go_on() or abandon() has come
  std::mutex stop_mutex_;          // start() may still make the callback while it is told
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace rowlock::client_layer
