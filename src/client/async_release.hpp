// A release that no thread waits for. When it is over, the caller's executor runs the continuation.
#pragma once

#include "client/async_waiters.hpp"
#include "client/engine.hpp"

#include <rowlock/task.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace rowlock::client_layer {

// Thread-safe. The continuation runs once, unless abandon() comes first or the executor drops it.
class async_release : public async_wait, public std::enable_shared_from_this<async_release> {
 public:
  using continuation = std::function<void(release_result)>;

  async_release(std::shared_ptr<engine> on, executor where, continuation then);

  // Call it once. hold: null if there is nothing to release; then the result is `otherwise`. Once the client
  // is closed, the executor is called on this thread.
  void start(const hold_ptr& hold, release_result otherwise);

  // Prevents the continuation from beginning. The release goes on.
  void abandon() noexcept { over_.store(true); }

  // For async_waiters.
  void give_up() noexcept override;
  void refuse() noexcept override { give_up(); }
  void tell() noexcept override;

 private:
  struct ticket;
  bool may_wait(instant until) noexcept;
  void go_on(const continuation& then);

  const std::shared_ptr<engine> engine_;
  executor where_;
  // For the executor: made before the release, so that its result can be passed on without memory. If the executor
  // drops its function, the caller's continuation is destroyed there.
  std::shared_ptr<ticket> ticket_;
  task passed_;
  const release_answer answer_ = std::make_shared<promised<release_result>>();
  std::atomic<bool> over_{false};  // go_on() or abandon() was called
};

}  // namespace rowlock::client_layer
