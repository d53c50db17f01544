// Every decision about a lock, shared by all stores. Each is a pure function. It takes what a transaction has
// read with the lock's row locked (store::lock_view), and returns what to write (store::lock_change) and the
// outcome of the request.
//
// A mutex, a shared_mutex and a semaphore are the same thing here, a weighted fair semaphore: an exclusive request
// needs the lock free, a shared one of weight n needs n of the capacity. Requests are granted in the order of their
// tickets, and the first that does not fit blocks all behind it. See lock_editor.hpp.
//
// A waiter of a latch or a barrier waits for others to arrive; decide_rendezvous.cpp decides about these.
#pragma once

#include "client/decision/outcome.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rowlock::client_layer {

struct acquire_terms : model::lock_request {
  lease_id lease;
  hold_id hold;
  bool wait = false;
  bool arrived = false;  // the request has stood in the queue
  bool leaving = false;  // of a barrier: the caller gives up, and must learn whether all had arrived
};

// If a request that was granted is repeated with the same hold, the outcome and the token are the same (I7).
decision decide_acquire(const store::lock_view& view, const acquire_terms& wish,
                        std::chrono::microseconds skew);
// As decide_acquire(), for a request with an explicit ttl. A request that is granted, now or before, has its hold on the
// lease `own`, in the commit that creates that lease. A request that waits does so on the lease of the wish.
decision decide_acquire_with_ttl(const store::lock_view& view, const acquire_terms& wish,
                                 const store::lease_record& own, std::chrono::microseconds skew);

// Decides several requests of one client in one transaction. Each is for another name, in name order, and
// none of them waits. With `all`, either all requests are granted or none; without it, all those before the
// first that cannot be granted. Decision i is for wishes[i]. A request that is not granted because of another
// one gets `absent`.
std::vector<decision> decide_acquire_together(std::span<const store::edit_result> results,
                                              std::span<const store::lock_view> views,
                                              std::span<const acquire_terms> wishes, bool all,
                                              std::chrono::microseconds skew);

// How a hold, or a place in the queue, ends.
struct release_spec {
  hold_id hold;
  std::optional<lease_id> on{};     // the hold ends only if it stands on this lease
  std::optional<lease_id> ended{};  // an explicit-ttl lease that ends with the hold
  // `hold` is that of a withdrawn request, which may stand in the queue although the view does not show it.
  bool may_be_queued = false;
  // Set if the minimum hold time is not over: the lock rests on this lease, and nobody is granted it before
  // that ends.
  std::optional<store::lease_record> rest{};
  // Withdrawn requests that leave the queue in the same edit, so that nothing is granted to one of them.
  std::span<const hold_id> leaving{};
};

// Ends a grant, or a place in the queue.
decision decide_release(const store::lock_view& view, const release_spec& what_ends,
                        std::chrono::microseconds skew);

// Takes the lock from all holders, or from the hold `only`. A hold with a token above `upto` stays. What rests is freed,
// too, unless `spares_rests`.
decision decide_force(const store::lock_view& view, std::optional<hold_id> only,
                      std::chrono::microseconds skew,
                      model::token upto = std::numeric_limits<model::token>::max(),
                      bool spares_rests = false);

// Frees what dead leases hold, grants to live waiters, removes dead waiters.
decision decide_sweep(const store::lock_view& view, std::chrono::microseconds skew);

// Puts a hold onto an explicit-ttl lease of its own, in the commit that creates that lease. data: if it is there,
// replaces the hold's in the same commit.
decision decide_move(const store::lock_view& view, hold_id hold, const store::lease_record& lease,
                     const std::optional<std::string>& data = {});

// ---- transfer of a hold to another process (decide_transfer.cpp) ----

// Turns a hold on the lease `from` into mine, with its mode, weight, token and data, and ends `from`. The hold gets my
// id, so another client that adopts the same hold finds none. The view must show the data.
decision decide_adopt(const store::lock_view& view, hold_id old, lease_id from, const model::waiter& mine);

// Replaces a hold on the lease `from` by mine, with the old hold's mode and weight and a new token, ahead of
// all waiters, and without data. The client of the old hold gets a notice.
decision decide_reclaim(const store::lock_view& view, hold_id old, lease_id from, const model::waiter& mine);

// ---- latch and barrier (decide_rendezvous.cpp); the functions above decide what they share ----

// Counts a latch down by a permit that never dies. The same hold counts only once (I7). At zero all waiters
// continue. tried: the token that an earlier try would have given its permit, if that try may have counted.
// 0: there is none.
decision decide_count_down(const store::lock_view& view, const model::lock_definition& definition,
                           hold_id hold, std::int64_t n, model::token tried = 0);

// Undoes all counting of a latch.
decision decide_reset(const store::lock_view& view, const model::lock_definition& definition);

// ---- changes of a hold or a lock (decide_change.cpp) ----

// Makes an exclusive hold a shared one of weight 1, with the same token. Readers at the head of the queue
// join it. No waiting writer gets in between. The hold keeps its data, which the view must show.
decision decide_downgrade(const store::lock_view& view, hold_id hold, std::chrono::microseconds skew);

// Makes a shared hold the exclusive one, with a new token, if nobody else holds or waits. Otherwise returns busy, also
// if a guarded transaction relies on a hold. The hold keeps its data, which the view must show.
decision decide_upgrade(const store::lock_view& view, hold_id hold, std::chrono::microseconds skew);

// Lowers a permit's weight to `weight`, never raises it, with the same token. Waiters are granted what has become free.
decision decide_reduce(const store::lock_view& view, hold_id hold, std::int64_t weight,
                       std::chrono::microseconds skew);

// Raises the token of an exclusive hold to `at_least`, never lowers it. Returns granted, with the token that
// the hold has then. The next grant of the name has a higher token. The hold's data would be gone, because it
// is stored with the token; but a quorum raises tokens before its caller gets the hold, so there is no data
// yet.
decision decide_raise_token(const store::lock_view& view, hold_id hold, model::token at_least);

// Writes a release request to all holders. Returns released, with the holds and the latest token that the request
// covers, or absent if nobody holds the lock.
decision decide_request(const store::lock_view& view, const std::string& reason,
                        std::chrono::milliseconds within);

// Writes the data of a hold. Returns granted with the hold and its lock, or guarded, or absent.
decision decide_set_data(const store::lock_view& view, hold_id hold, const std::string& text);

// Changes the capacity of a semaphore. If more is in use, nothing is granted until enough is released. Waiters that
// want more than the new capacity leave the queue.
decision decide_resize(const store::lock_view& view, std::int64_t capacity, std::chrono::microseconds skew);
// As decide_resize(), but adds `difference` to the capacity; a repeated call adds it again. Returns overrun
// if the sum is not a valid capacity.
decision decide_resize_by(const store::lock_view& view, std::int64_t difference,
                          std::chrono::microseconds skew);

}  // namespace rowlock::client_layer
