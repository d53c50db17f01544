// Arrival at a barrier.
#pragma once

#include "client/engine.hpp"

#include <optional>
#include <stop_token>

namespace rowlock::client_layer {

// Arrives, waits for the other members, and returns the number of the complete generation. Empty: the time passed or a
// limited wait was stopped; the generation is then broken. Throws as barrier::arrive_and_wait does.
std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop);

}  // namespace rowlock::client_layer
