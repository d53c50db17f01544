#include "client/call/joint_call.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// Without a lease the first round would send nothing. A client that has just been started has its lease in a
// moment, so this waits for the lease.
void await_first_lease(const joint_call& made) {
  auto& on = made.on();
  const auto now = on.environment().time.now();
  const auto end = std::min(made.until().value_or(instant::max()), now + 100ms);
  while (!on.services().queue.lease() && on.environment().time.now() < end && on.sleep(1ms, made.stop())) {
  }
}

}  // namespace

joint_call::joint_call(engine& on, const std::vector<model::lock_request>& wanted, const wait_limit& how_long,
                       const acquire_options& how, std::optional<model::hold_id> as)
    : call(on, how.stop), how_long_(how_long) {
  if (!as) check_without_thread(how);
  joint_ = std::make_shared<joint_acquire>(on, wanted, how_long, how, as ? *as : model::hold_id::random());
  until_ = how_long.until(on.environment(), joint_->called_at());
}

bool joint_call::leave() noexcept {
  if (!answer().give_up()) return false;
  try {
    failure_ = joint_->last_failure();
  } catch (...) {
    // Without memory the reason stays unknown.
  }
  joint_->abandon();
  return true;
}

bool joint_call::drop() noexcept {
  if (leave()) return true;
  try {
    if (const auto granted = answer().take()) {
      for (const auto& hold : *granted) on().releaser().give_back(*hold);
    }
  } catch (const std::exception&) {
    // The call had failed, so nothing was granted.
  }
  // If the client is closed, a statement that hangs may still bring what the joint acquire waits for.
  joint_->abandon();
  return false;
}

joint_acquire::holds joint_call::without_answer() const {
  how_long_.check_without_answer(on().environment(), stop(), failure_);
  return {};
}

std::vector<hold_ptr> acquire_together(engine& on, const std::vector<model::lock_request>& wanted,
                                       const wait_limit& how_long, const acquire_options& how) {
  joint_call made{on, wanted, how_long, how, model::hold_id::of_this_thread()};
  if (how.stop.stop_requested()) return made.without_answer();
  on.start_keeper();
  await_first_lease(made);
  made.submit();
  return wait(made, how.detect_deadlock && how_long.waits);
}

}  // namespace rowlock::client_layer
