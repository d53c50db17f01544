// Every decision about a lock, once, for all stores: pure functions from what a transaction read under the
// lock row (store::lock_view) to what it writes (store::lock_change) and what became of the request.
//
// A mutex, a shared_mutex and a semaphore are one thing here, a weighted fair semaphore: an exclusive request
// needs the lock free, a shared one of weight n needs n of the capacity. Requests are granted in the order of
// their tickets, and the first that does not fit stops all behind it. How is in lock_editor.hpp.
//
// Who waits at a latch or a barrier waits for others to come: those are in decide_gather.cpp.
#pragma once

#include "model/lock.hpp"
#include "store/store.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <string>
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
    granted,   // the asking hold has the lock, with `token` and `weight`
    queued,    // it waits; the first lease that stands in its way may be killed in `takeover_in`
    busy,      // it neither has the lock nor waits
    released,  // it had the lock or a place in the queue, and has it no more; what was asked for is done
    absent,    // it has neither
    guarded,   // a guarded transaction keeps the grant; ask again later
    mismatch,  // the stored lock is another one, see `stored`
    expired,   // kill these `leases` first, then ask again
    foreign,   // this server is not the recorded one: refresh the database_state, then ask again
    again,     // dead waiters were cleared away, ask again
    broken,    // of a barrier: another member of its generation has died or given up
    overrun,   // of a latch: fewer remain to be counted down than it asks for, `remaining`
  } result = what::busy;
  model::token token = 0;
  std::int64_t weight = 1;
  model::lock_mode mode = model::lock_mode::exclusive;  // of a hold that was taken on
  std::chrono::microseconds takeover_in{0};
  std::vector<lease_id> leases;
  std::vector<handed_over> next;  // who else was granted in this change
  std::vector<lease_id> wake;     // whose waiters are in no queue any more, and were not granted
  bool more = false;              // beyond the part of the queue that was read others may fit: sweep
  std::int64_t remaining = 0;
  model::lock_definition stored;  // of a mismatch, and of a hold that was taken on

  // Something had to be put right first; then the same request is decided again.
  bool must_retry() const {
    return result == what::expired || result == what::foreign || result == what::again;
  }
};

struct decision {
  store::lock_change change;
  client_layer::outcome outcome;
};

struct acquire_terms {
  model::lock_definition definition;
  lease_id lease;
  hold_id hold;
  bool wait = false;
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;  // of a shared wish
  bool everything = false;  // a shared wish for all that is free, when nobody waits; it does not wait itself
  bool arrived = false;     // it has stood in the queue
  bool leaving = false;     // of a barrier: it waits no longer, and says what became of it
};

// Asked again with the same hold it says the same, with the same token (I7).
decision decide_acquire(const store::lock_view& view, const acquire_terms& wish,
                        std::chrono::microseconds skew);

// Several wishes of one client's, each about another name, in name order; none of them waits. In one
// transaction: all are granted or none is (all), or as many from the front as are free before the first that
// is not. Decision i is for wish i; those that were left ungranted for another's sake say absent.
std::vector<decision> decide_acquire_together(std::span<const store::edit_result> results,
                                              std::span<const store::lock_view> views,
                                              std::span<const acquire_terms> wishes, bool all,
                                              std::chrono::microseconds skew);

// How a hold, or a place in the queue, ends.
struct release_spec {
  hold_id hold;
  std::optional<lease_id> on{};     // only where it stands on that lease
  std::optional<lease_id> ended{};  // an explicit-ttl lease that ends with it
  std::optional<store::lease_record>
      rest{};  // its minimum time is not over: nobody has the lock before this ends
};

// Gives back a grant or a place in the queue.
decision decide_release(const store::lock_view& view, const release_spec& what_ends,
                        std::chrono::microseconds skew);

// Takes the lock from all who hold it, or from that hold alone; from nobody who was granted it after the
// token `upto`.
decision decide_force(const store::lock_view& view, std::optional<hold_id> only,
                      std::chrono::microseconds skew,
                      model::token upto = std::numeric_limits<model::token>::max());

// Frees what the dead hold, grants to the living, removes dead waiters.
decision decide_sweep(const store::lock_view& view, std::chrono::microseconds skew);

// Puts a hold onto an explicit-ttl lease of its own, in the commit that creates it.
decision decide_move(const store::lock_view& view, hold_id hold, const store::lease_record& lease);

// ---- of a hold that goes to another process (decide_transfer.cpp) ----

// Takes a hold that stands on the lease `from` on as mine, with its mode, weight and token, and ends `from`.
// Its id becomes mine, so that another who adopts the same hold finds nothing.
decision decide_adopt(const store::lock_view& view, hold_id old, lease_id from, const model::waiter& mine);

// Replaces a hold that stands on the lease `from` by one of mine, whose mode and weight it gets, with a new
// token and before all who wait. The client of the old one is noticed.
decision decide_reclaim(const store::lock_view& view, hold_id old, lease_id from, const model::waiter& mine);

// ---- of a latch and a barrier (decide_gather.cpp); what they share is decided by the functions above ----

// Counts a latch down by a permit that never dies. The same hold counts once (I7). At zero all who wait are
// let go.
decision decide_count_down(const store::lock_view& view, const model::lock_definition& definition,
                           hold_id hold, std::int64_t n);

// Takes back all that a latch was counted down by.
decision decide_reset(const store::lock_view& view, const model::lock_definition& definition);

// ---- of a hold, or a lock, that stands (decide_change.cpp) ----

// Makes an exclusive hold a shared one of weight 1, with the same token. Readers at the head of the queue
// join it; a waiting writer does not slip in.
decision decide_downgrade(const store::lock_view& view, hold_id hold, std::chrono::microseconds skew);

// Makes a shared hold the exclusive one, with a new token, where nobody else holds or waits. Busy otherwise.
decision decide_upgrade(const store::lock_view& view, hold_id hold, std::chrono::microseconds skew);

// Raises the token of an exclusive hold to `at_least`, never lowers it: granted, with the token that it has
// now. The next grant of the name is above it.
decision decide_raise_token(const store::lock_view& view, hold_id hold, model::token at_least);

// Asks all who hold it to give it up: released where somebody was asked, with the latest token that is meant.
// Absent: nobody holds it.
decision decide_request(const store::lock_view& view, const std::string& reason,
                        std::chrono::milliseconds within);

// Writes what the holder proclaims. Absent when that hold is not the exclusive one.
decision decide_proclaim(const store::lock_view& view, hold_id hold, const std::string& value);

// Changes what a semaphore has to give. Below what is in use nothing is granted until it fits again; those
// who wait for more than there is are sent away.
decision decide_resize(const store::lock_view& view, std::int64_t capacity, std::chrono::microseconds skew);

}  // namespace rowlock::client_layer
