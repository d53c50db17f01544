// Delivers the outcome of a request to its caller, and withdraws requests that nobody waits for any more.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/recently_contended.hpp"
#include "client/core/submission_queue.hpp"
#include "client/core/waiter_registry.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// A hold as the database has granted it.
struct granted_hold {
  model::lock_definition lock;
  model::hold_id id;
  model::token token = 0;
  std::shared_ptr<client_layer::lease> lease;
  model::lock_mode mode = model::lock_mode::exclusive;
  std::int64_t weight = 1;
  release_ptr ending{};  // see hold_state; null: the hold makes one
  instant at{};          // if the hold only moves to another lease: when it was granted
};

using hold_maker = std::function<hold_ptr(const granted_hold&)>;

// Thread-safe. Called by the thread that owns the operation.
class request_settler {
 public:
  request_settler(client_environment& environment, keeper_agenda& agenda, submission_queue& queue,
                  waiter_registry& waiters, hold_registry& holds, recent_releases& releases,
                  recently_contended& contended, hold_maker make_hold)
      : environment_(environment),
        agenda_(agenda),
        queue_(queue),
        waiters_(waiters),
        holds_(holds),
        releases_(releases),
        contended_(contended),
        make_hold_(std::move(make_hold)) {}

  // The database has granted the operation's hold. The grant counts only if the lease is still valid by this client's
  // clock (I5). Requires: operation->check_count was read before the statement that granted it, or found it granted.
  // If memory runs out, the operation is in doubt: the caller must have it decided again.
  void granted(const acquire_ptr& operation, model::token token);
  // As granted(), but if memory runs out, this function submits the operation again.
  void deliver(acquire_ptr operation, model::token token, bool contended, std::uint64_t check_count) noexcept;
  // As deliver(), for a waiter of this client to which another request's statement has granted the lock. If
  // the waiter is not in the waiter registry, the thread that owns its operation is about to find the grant,
  // or to withdraw the request. check_count: see hold_registry::add.
  void granted_to_waiter(model::hold_id hold, model::token token, bool contended,
                         std::uint64_t check_count) noexcept;
  // The operation was not granted and does not wait. Returns false if its caller has given up.
  bool busy(const acquire_ptr& operation) noexcept;
  // The operation stands in the lock's queue. wakeups: how many wake-ups the client had received before the
  // database put the operation there. If memory runs out, the operation still belongs to the caller.
  void queued(const acquire_ptr& operation, std::chrono::microseconds takeover_in, std::uint64_t wakeups);
  void released(const release_ptr& operation, release_result result);

  // Counts a hold that a caller gets, and tells of it. called_at: when the caller asked.
  void note_grant(const hold_state& hold, instant called_at) const noexcept;

  // Makes a hold of a grant and registers it; no other function registers holds. contended: others waited
  // when it was granted. Returns null if the lease is over by this client's clock, so that the grant does not
  // count (I5). In that case, and if memory runs out, `granted` is unchanged.
  hold_ptr make_hold(granted_hold&& granted, std::uint64_t check_count, bool contended,
                     instant keep_until = {});

  // Read before a request is sent, see hold_registry::check_count().
  std::uint64_t check_count() const noexcept { return holds_.check_count(); }

  // Makes the operation a new request, under a new hold id. Withdraws the old request if `withdraws` is set,
  // or if what that may have obtained does not end with the client's lease. If memory runs out, nothing
  // changes.
  void begin_anew(acquire_operation& operation, bool withdraws = false);
  // As begin_anew(), and then submits the operation.
  void restart(const acquire_ptr& operation, bool withdraws = false);

 private:
  void settle(const acquire_ptr& operation, model::token token);
  void settle_rendezvous(const acquire_ptr& operation, model::token token);
  void note_end(const release_operation& release, release_result result, instant now) const noexcept;
  void log_orphan(const release_operation& release) const;
  static granted_hold granted_to(const acquire_operation& operation, model::token token);

  client_environment& environment_;
  keeper_agenda& agenda_;
  submission_queue& queue_;
  waiter_registry& waiters_;
  hold_registry& holds_;
  recent_releases& releases_;
  recently_contended& contended_;
  hold_maker make_hold_;
};

}  // namespace rowlock::client_layer
