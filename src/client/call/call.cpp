#include "client/call/call.hpp"

#include "client/base/errors.hpp"
#include "client/core/retry_state.hpp"

namespace rowlock::client_layer {

std::optional<instant> wait_limit::until(const client_environment& environment, instant begun) const {
  const auto longest = waits ? limit : environment.longest_call();
  return longest ? std::optional{later(begun, *longest)} : std::nullopt;
}

std::exception_ptr wait_limit::reason_of_silence() const {
  const auto length = whole ? whole : limit;
  const bool can_tell = waits && length && *length >= retry_state::row_lock_limit && !was_answered;
  return can_tell ? std::make_exception_ptr(no_answer(*length)) : nullptr;
}

void wait_limit::check_without_answer(const client_environment& environment, const std::stop_token& stop,
                                      const std::optional<error>& last_failure) const {
  if (stop.stop_requested()) {
    if (waits && !limit) throw error(errc::cancelled, "the wait for a lock was stopped");
    return;
  }
  if (last_failure) throw *last_failure;
  if (!waits) throw no_answer(environment.longest_call());
}

}  // namespace rowlock::client_layer
