// Every decision about a lock, once, for all stores: pure functions from what a transaction read under the
// lock row (store::lock_view) to what it writes (store::lock_change) and what became of the request.
//
// I1, I2 and I9 are enforced here: only grant() puts a holder into a row, it takes the next token, and it
// takes the first living waiter.
#pragma once

#include "model/lock.hpp"
#include "store/store.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace rowlock::client_layer {

using model::hold_id;
using model::lease_id;

struct handed_over {
  model::waiter waiter;
  lease_id client;  // to be woken
  model::token token = 0;
};

struct outcome {
  enum class what {
    granted,   // the asking hold has the lock, with `token`
    queued,    // it waits; the holder's lease may be killed in `takeover_in`
    busy,      // it neither has the lock nor waits
    released,  // it had the lock or a place in the queue, and has it no more
    absent,    // it has neither
    guarded,   // a guarded transaction keeps the grant; ask again later
    mismatch,  // the stored lock is another one, see `stored`
    expired,   // kill these `leases` first, then ask again
    foreign,   // this server is not the recorded one: refresh the world, then ask again
    again,     // dead waiters were cleared away, ask again
  } result = what::busy;
  model::token token = 0;
  std::chrono::microseconds takeover_in{0};
  std::vector<lease_id> leases;
  std::optional<handed_over> next;  // who else was granted in this change
  model::lock_definition stored;
};

struct decision {
  store::lock_change change;
  client_layer::outcome outcome;
};

struct acquire_wish {
  model::lock_definition definition;
  lease_id lease;
  hold_id hold;
  bool wait = false;
};

// Asked again with the same hold it says the same, with the same token (I7).
decision decide_acquire(const store::lock_view& view, const acquire_wish& wish,
                        std::chrono::microseconds skew);

// Gives back a grant or a place in the queue. ended: an explicit-ttl lease that ends with it.
decision decide_release(const store::lock_view& view, hold_id hold, std::optional<lease_id> ended,
                        std::chrono::microseconds skew);

// Takes the lock from whoever holds it.
decision decide_force(const store::lock_view& view, std::chrono::microseconds skew);

// Frees what the dead hold, grants to the living, removes dead waiters.
decision decide_sweep(const store::lock_view& view, std::chrono::microseconds skew);

// Puts a hold onto an explicit-ttl lease of its own, in the commit that creates it.
decision decide_move(const store::lock_view& view, hold_id hold, const store::lease_record& lease);

}  // namespace rowlock::client_layer
