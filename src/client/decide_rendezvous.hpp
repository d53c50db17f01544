// What decisions about a latch or a barrier differ in from those about locks that somebody holds.
#pragma once

#include "client/lock_editor.hpp"

namespace rowlock::client_layer {

// Of somebody who waits until a latch is open or a generation of a barrier is complete.
decision decide_rendezvous(lock_editor& lock, const store::lock_view& view, const acquire_terms& wish);

// Takes those away who have died, and lets go whom an opened latch has left in the queue.
decision sweep_rendezvous(lock_editor& lock);

}  // namespace rowlock::client_layer
