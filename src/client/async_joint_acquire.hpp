// A joint acquire that no thread waits for.
#pragma once

#include "client/async_request.hpp"
#include "client/joint_acquire.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe.
class async_joint_acquire final : public async_request {
 public:
  using continuation = std::function<void(async_joint_acquire&)>;

  async_joint_acquire(std::shared_ptr<engine> on, std::vector<model::lock_request> wanted,
                      const wait_limit& how_long, acquire_options how, executor where, continuation then);

  // Call it once, in the continuation: returns or throws what acquire_together() does.
  joint_acquire::holds take();

 private:
  std::optional<instant> prepare() override;
  promise_state& answer() override { return joint_->answer(); }
  void submit() override { joint_->submit(); }
  void refuse() noexcept override;
  bool leave() noexcept override;
  bool detach() noexcept override { return leave(); }
  void drop_answer() override { joint_->discard(); }
  std::string described() const override { return "the acquire of several locks"; }

  const std::vector<model::lock_request> wanted_;
  const wait_limit how_long_;
  const acquire_options how_;
  std::shared_ptr<joint_acquire> joint_;
  std::optional<error> failure_;  // why there was no answer when it was given up
};

}  // namespace rowlock::client_layer
