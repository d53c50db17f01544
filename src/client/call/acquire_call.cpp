#include "client/call/acquire_call.hpp"

#include "model/names.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

void check_without_thread(const acquire_options& how) {
  if (!how.detect_deadlock) return;
  throw error(
      errc::invalid_argument,
      "detect_deadlock works only for waiting threads, and an asynchronous acquire has none; leave it out");
}

acquire_call::acquire_call(engine& on, const model::lock_request& request, const wait_limit& how_long,
                           const acquire_options& how, std::optional<model::hold_id> as,
                           hold_room::place room)
    : call(on, how.stop), how_long_(how_long) {
  if (!as) check_without_thread(how);
  on.check_usable();
  on.check_may_write();
  model::check_hold_times(how.ttl, how.min_hold);
  const auto called_at = on.environment().time.now();
  until_ = how_long.until(on.environment(), called_at);
  operation_ = std::make_shared<acquire_operation>(request, how_long.waits);
  operation_->called_at = called_at;
  operation_->ttl = how.ttl;
  operation_->min_hold = how.min_hold;
  if (as) operation_->hold = *as;
  if (!model::is_rendezvous(request.definition.kind)) {
    operation_->answer.room = room ? std::move(room) : on.take_room();
  }
  if (const auto reason = how_long.reason_of_silence()) operation_->note_failure(reason);
}

// A hold with an explicit ttl has a deadline of its own, which may come before all others.
void acquire_call::settled() noexcept {
  if (operation_->ttl) on().check_deadlines();
}

// Withdraws an operation that is in the waiter registry. A worker that has the operation sees that nobody waits,
// and withdraws it itself.
bool acquire_call::leave() noexcept {
  if (!answer().give_up()) return false;
  if (const auto left = on().waiters().take(*operation_)) on().services().queue.withdraw(*left);
  on().environment().count.busy.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool acquire_call::drop() noexcept {
  if (leave()) return true;
  try {
    if (const auto granted = answer().take(); granted && *granted) on().releaser().give_back(**granted);
  } catch (const std::exception&) {
    // The acquire had failed, so nothing was granted.
  }
  return false;
}

hold_ptr acquire_call::without_answer() const {
  how_long_.check_without_answer(on().environment(), stop(), operation_->answer.last_failure());
  return nullptr;
}

std::string acquire_call::described() const {
  return "the acquire of \"" + operation_->definition.name + "\"";
}

hold_ptr acquire(engine& on, const model::lock_request& request, const wait_limit& how_long,
                 const acquire_options& how) {
  acquire_call made{on, request, how_long, how, model::hold_id::of_this_thread()};
  if (how.stop.stop_requested()) return made.without_answer();
  on.start_keeper();
  // An inline statement cannot be abandoned, so it is used only if the wait has no limit and cannot be stopped.
  const bool may_run_inline = !how_long.limit && !how.stop.stop_possible();
  const auto runs = [&](const auto& worker) { return worker->run_inline(made.operation()); };
  if (!may_run_inline || std::ranges::none_of(on.workers(), runs)) made.submit();
  return wait(made, how.detect_deadlock && how_long.waits);
}

}  // namespace rowlock::client_layer
