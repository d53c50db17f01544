// Tells those who wait whom a change has granted their locks.
#pragma once

#include "client/decisions.hpp"
#include "client/lane.hpp"

#include <string>
#include <vector>

namespace rowlock::client_layer {

// The waiting room's waiter has been granted its lock. Not in the room: its owner is about to find out, or to
// withdraw it.
void deliver_to_waiter(lane_desk& desk, hold_id hold, model::token token, bool contended);

// Whom a decision granted besides the one who asked, or told to look at its holds. Who waits in this process
// is told here; returns the clients that are to be woken. Where others may be granted beyond what was read of
// the queue, a sweep follows.
std::vector<lease_id> deliver_grants(lane_desk& desk, const std::string& name, const decision& made);

}  // namespace rowlock::client_layer
