// The part of the decisions that differs for a latch or a barrier, which nobody holds.
#pragma once

#include "client/decision/decisions.hpp"
#include "client/decision/lock_editor.hpp"

namespace rowlock::client_layer {

// Decides about a request that waits until a latch is open or a barrier's generation is complete.
decision decide_rendezvous(lock_editor& lock, const store::lock_view& view, const acquire_terms& wish);

// Removes dead waiters, and releases waiters that an opened latch has left in the queue.
decision sweep_rendezvous(lock_editor& lock);

}  // namespace rowlock::client_layer
