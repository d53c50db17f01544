#include "client/async_joint_acquire.hpp"

#include <utility>

namespace rowlock::client_layer {

async_joint_acquire::async_joint_acquire(std::shared_ptr<engine> on, std::vector<model::lock_request> wanted,
                                         const wait_limit& how_long, acquire_options how, executor where,
                                         continuation then)
    : async_request(
          std::move(on), how.stop, std::move(where),
          [then = std::move(then)](async_request& over) { then(static_cast<async_joint_acquire&>(over)); }),
      wanted_(std::move(wanted)),
      how_long_(how_long),
      how_(std::move(how)) {}

std::optional<instant> async_joint_acquire::prepare() {
  check_without_thread(how_);
  joint_ = std::make_shared<joint_acquire>(*engine_, wanted_, how_long_, how_, model::hold_id::random());
  return joint_->until();
}

joint_acquire::holds async_joint_acquire::take() {
  if (auto granted = joint_->answer().take()) return std::move(*granted);
  engine_->check_without_answer(failure_, how_long_, stop_);
  return {};
}

// The client is closed: a statement that hangs may still bring what the joint acquire waits for.
void async_joint_acquire::refuse() noexcept {
  async_request::refuse();
  joint_->abandon();
}

bool async_joint_acquire::leave() noexcept {
  if (!joint_->answer().give_up()) return false;
  try {
    failure_ = joint_->last_failure();
  } catch (...) {
    // Without memory the reason stays unknown.
  }
  joint_->abandon();
  return true;
}

}  // namespace rowlock::client_layer
