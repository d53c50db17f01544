// What a decision says: the change that it makes to a lock, and what becomes of the request.
#pragma once

#include "model/lock.hpp"
#include "store/store.hpp"

#include <chrono>
#include <cstdint>
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
    granted,            // the request has the lock, with `token` and `weight`
    queued,             // it waits; the first lease in its way may be killed in `takeover_in`
    busy,               // it neither has the lock nor waits
    released,           // the hold or the place in the queue has ended, or the change was made
    absent,             // there is no such hold and no such place in the queue
    guarded,            // a guarded transaction keeps the grant: retry later
    mismatch,           // the stored lock differs, see `stored`
    expired,            // kill these `leases` first, which are expired or too long, then retry
    unrecorded_server,  // this server is not the recorded one: record its state, then retry
    decide_again,       // dead waiters were removed, or a permit that was not read may be dead: retry
    broken,             // of a barrier: another member of its generation has died or given up
    overrun,   // of a latch: the count is above `remaining`; of a resize: the capacity leaves its bounds
    in_doubt,  // of a latch: an earlier try may have counted before a reset
  } result = what::busy;
  model::token token = 0;
  std::int64_t weight = 1;
  model::lock_mode mode = model::lock_mode::exclusive;  // of an adopted or reclaimed hold
  std::chrono::microseconds takeover_in{0};
  std::vector<lease_id> leases;
  std::vector<handed_over> next;  // the waiters that this change grants
  std::vector<lease_id> wake;     // clients whose waiters left the queue without a grant
  std::vector<hold_id> asked;     // the holds that a release request covers
  bool more = false;              // waiters beyond the part of the queue that was read may fit: sweep
  std::int64_t remaining = 0;
  // Set for a mismatch, for a hold that is adopted or reclaimed or gets data, and for a resized lock.
  model::lock_definition stored;

  // Something must be done first; then the same request is decided again.
  bool must_retry() const {
    return result == what::expired || result == what::unrecorded_server || result == what::decide_again;
  }
};

struct decision {
  store::lock_change change;
  client_layer::outcome outcome;
};

}  // namespace rowlock::client_layer
