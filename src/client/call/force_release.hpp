// What an operator ends: holds by force, and what dead leases hold.
#pragma once

#include "client/engine.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace rowlock::client_layer {

// Takes the lock from all its holders, or from the hold `only`, and ends its rest. With `upto` it takes the lock from
// those of them whose token is at most that, and leaves a rest alone: they had released it. A holder that is granted the lock
// later keeps it, even if the answer is lost and the request is sent again. Returns `unknown` if no answer came in time.
release_result force_release(engine& on, const std::string& name, std::chrono::nanoseconds limit,
                             model::hold_id only = {}, std::optional<model::token> upto = {});
// Frees what dead leases have of the lock, and grants to its waiters.
release_result sweep_lock(engine& on, const std::string& name, std::chrono::nanoseconds limit);

}  // namespace rowlock::client_layer
