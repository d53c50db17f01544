// An acquire that no thread waits for. When it is granted or has failed, the caller's executor runs the continuation.
#pragma once

#include "client/async_waiters.hpp"
#include "client/engine.hpp"
#include "model/annotated_mutex.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace rowlock::client_layer {

// Thread-safe. Each wait ends once: by go_on() on the executor, or by abandon().
class async_acquire : public async_wait, public std::enable_shared_from_this<async_acquire> {
 public:
  using executor = std::function<void(std::function<void()>)>;
  using continuation = std::function<void(async_acquire&)>;

  async_acquire(std::shared_ptr<engine> on, const wait_limit& how_long, std::stop_token stop, executor where,
                continuation then);
  ~async_acquire() override;

  // Call it once. Throws what engine::acquire throws before it sends anything; then no continuation follows.
  // The arguments are not used once the continuation may begin.
  void start(const model::lock_request& request, const acquire_options& how);

  // Call it once, in the continuation: returns or throws what engine::acquire does.
  hold_ptr take();

  // Prevents the continuation from beginning. What was granted, or is granted later, is released. Does
  // nothing if the continuation has begun.
  void abandon() noexcept;

  // For async_waiters.
  std::optional<instant> until() const noexcept override { return until_; }
  void give_up() override;  // also if the wait was stopped
  void refuse() override;
  void tell() override;

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
  std::atomic<bool> over_{false};      // go_on() or abandon() was called
  model::annotated_mutex stop_mutex_;  // start() may still make the callback while tell() runs
  std::optional<std::stop_callback<std::function<void()>>> on_stop_ ROWLOCK_GUARDED_BY(stop_mutex_);
};

}  // namespace rowlock::client_layer
