// What decisions about a latch or a barrier differ in from those about locks that somebody holds.
#pragma once

#include "client/draft.hpp"

namespace rowlock::client_layer {

// Of somebody who waits until a latch is open or a generation of a barrier is complete.
decision gather(draft& lock, const store::lock_view& view, const acquire_wish& wish);

// Takes those away who have died, and lets go whom an opened latch has left in the queue.
decision sweep_gathering(draft& lock);

}  // namespace rowlock::client_layer
