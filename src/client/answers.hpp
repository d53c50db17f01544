// What became of a request, told to whoever asked: by the fast path and by the slow one.
#pragma once

#include "client/lane_desk.hpp"
#include "client/operation.hpp"

#include <chrono>
#include <cstdint>

namespace rowlock::client_layer {

// It was not granted, and would not wait. False: its caller has given up.
bool answer_busy(context& shared, const acquire_ptr& operation);

// The waiting room's waiter has been granted its lock. Not in the room: its owner is about to find out, or to
// withdraw it. checks: of before the statement that granted it, see hold_registry::add.
void deliver_to_waiter(lane_desk& desk, model::hold_id hold, model::token token, bool contended,
                       std::uint64_t checks);

// It stands in the queue. hints: heard before the database put it there.
void wait_in_room(lane_desk& desk, const acquire_ptr& operation, std::chrono::microseconds takeover_in,
                  std::uint64_t hints);

void answer_release(lane_desk& desk, const release_ptr& operation, release_result result);

}  // namespace rowlock::client_layer
