#include "client/call/arrive.hpp"

#include <memory>
#include <utility>

namespace rowlock::client_layer {

arrival::arrival(engine& on, const model::lock_definition& barrier, const wait_limit& how_long,
                 std::stop_token stop)
    : call(on, std::move(stop)),
      operation_(
          std::make_shared<acquire_operation>(model::lock_request{barrier, model::lock_mode::shared}, true)),
      is_limited_(how_long.limit.has_value()) {
  on.check_usable();
  on.check_may_write();
  if (is_limited_) until_ = later(on.environment().time.now(), *how_long.limit);
}

std::optional<instant> arrival::until() const noexcept {
  const auto left = leaves_until_.load();
  return left == instant::max() ? until_ : left;
}

// May be called twice: when the time is up, and when the wait is stopped.
bool arrival::leave() noexcept {
  const auto now = on().environment().time.now();
  auto until = instant::max();
  if (!leaves_until_.compare_exchange_strong(until, now + on().environment().longest_call())) {
    return now >= until && answer().give_up();
  }
  answer().leave();
  look_again();
  return false;
}

bool arrival::drop() noexcept {
  if (!answer().detach()) return false;
  look_again();
  return true;
}

// If a worker has the operation, the registry does not; that worker sees that the caller leaves.
void arrival::look_again() noexcept {
  if (auto waiting = on().waiters().take(*operation_)) on().services().queue.submit_again(std::move(waiting));
}

std::optional<model::token> arrival::result_of(const hold_ptr& answered) const {
  if (answered) return answered->token();
  if (!is_limited_) throw error(errc::cancelled, "the wait at a barrier was stopped");
  return {};
}

std::optional<model::token> arrival::without_answer() const {
  if (leaves_until_.load() == instant::max()) return result_of(nullptr);  // stopped before submit()
  throw error(errc::unreachable,
              "the wait at \"" + operation_->definition.name +
                  "\" has ended, but the database did not answer: whether all had arrived is unknown",
              {}, true);
}

std::string arrival::described() const {
  return "the arrival at \"" + operation_->definition.name + "\"";
}

std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop) {
  arrival made{on, barrier, how_long, stop};
  if (stop.stop_requested()) return made.without_answer();
  on.start_keeper();
  made.submit();
  return wait(made);
}

}  // namespace rowlock::client_layer
