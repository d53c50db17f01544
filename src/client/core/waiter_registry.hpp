// The acquires of this process that stand in a database's queue. A caller that takes one out is its only owner.
#pragma once

#include "client/base/linked_list.hpp"
#include "client/core/operation.hpp"
#include "model/annotated_mutex.hpp"

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe.
class waiter_registry {
 public:
  // takeover_at: when the current holder's lease may be killed. Returns false if the registry is closed, and
  // throws if memory runs out; in both cases the operation still belongs to the caller.
  bool enter(std::shared_ptr<acquire_operation> operation, instant takeover_at);

  // Null: it is not here.
  std::shared_ptr<acquire_operation> take(model::hold_id hold) noexcept;
  std::shared_ptr<acquire_operation> take(const acquire_operation& operation) noexcept;
  // As take(hold); null as well while the operation's not_before lies ahead.
  std::shared_ptr<acquire_operation> take_if_due(model::hold_id hold, instant now);
  linked_list<acquire_operation> take_all() noexcept;
  // take_all(), after which enter() fails.
  linked_list<acquire_operation> close() noexcept;

  void set_takeover(model::hold_id hold, instant at);

  std::vector<store::hold_query> queries() const;
  // As queries(), but only for the given waiters that are in the registry.
  std::vector<store::hold_query> queries(std::span<const model::hold_id> of) const;
  // The earliest time at which a holder that somebody waits for may be killed. Empty: nobody waits.
  std::optional<instant> next_takeover() const;
  bool empty() const;

 private:
  struct waiter_entry {
    std::shared_ptr<acquire_operation> operation;
    instant takeover_at;
  };

  using waiter_entries = std::unordered_map<model::hold_id, waiter_entry>;

  std::shared_ptr<acquire_operation> take_from(waiter_entries::iterator at) noexcept ROWLOCK_REQUIRES(mutex_);

  mutable model::annotated_mutex mutex_;
  waiter_entries entries_ ROWLOCK_GUARDED_BY(mutex_);
  std::unordered_map<const acquire_operation*, model::hold_id> hold_of_operation_ ROWLOCK_GUARDED_BY(mutex_);
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::client_layer
