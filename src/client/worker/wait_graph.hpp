// Who waits for whom, and whether they wait in a circle.
//
// An owner is what acquires one lock after another: a thread (hold_id::owner). The search repeatedly removes an owner
// whose request would fit once the owners removed before had released what they hold. The owners that remain wait for
// each other for ever. This is the reduction of a resource graph (Holt, "Some Deadlock Properties of Computer Systems",
// 1972). Unlike a search for circles, it is right for locks that several may hold.
#pragma once

#include "store/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

struct contended_lock {
  store::lock_info lock;
  std::vector<store::waiter_info> queue;
};

struct stuck_waiter {
  // The lock it waits for; the next one in the circle holds that lock, or is ahead in its queue.
  std::string name;
  store::waiter_info waiter;
};

// Each waiter waits for the next one, and the last one for the first.
using wait_cycle = std::vector<stuck_waiter>;

// Reads all locks that somebody waits for. This is not one snapshot. A circle is real if two readings show
// the same waiters in it, because a hold that both show was held in between.
std::vector<contended_lock> read_contended(store::admin_verbs& session);
// The same for one lock. Empty: nobody waits for it any more.
std::optional<contended_lock> read_waiters(store::admin_verbs& session, const std::string& name);

// Each stuck waiter is in at most one of them.
std::vector<wait_cycle> find_cycles(const std::vector<contended_lock>& locks);

bool is_same_cycle(const wait_cycle& a, const wait_cycle& b);

// host 1 (billing) waits for "a"; host 2 (shop), which holds that lock or is ahead in its queue, waits for
// "b"
std::string describe(const wait_cycle& cycle);

}  // namespace rowlock::client_layer
