// An acquire that no thread waits for, or a wait for a latch.
#pragma once

#include "client/async_request.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::client_layer {

// Thread-safe.
class async_acquire final : public async_request {
 public:
  using continuation = std::function<void(async_acquire&)>;

  async_acquire(std::shared_ptr<engine> on, model::lock_request request, const wait_limit& how_long,
                acquire_options how, executor where, continuation then);

  // Call it once, in the continuation: returns or throws what engine::acquire does.
  hold_ptr take();

 private:
  std::optional<instant> prepare() override;
  promise_state& answer() override { return operation_->answer; }
  void submit() override { engine_->parts().queue.submit(operation_); }
  bool leave() noexcept override;
  bool detach() noexcept override { return leave(); }
  void drop_answer() override;
  void before_told() noexcept override;
  std::string described() const override;

  const model::lock_request request_;
  const wait_limit how_long_;
  const acquire_options how_;
  acquire_ptr operation_;
};

}  // namespace rowlock::client_layer
