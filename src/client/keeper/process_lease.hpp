// The current lease of a client, from its creation to its loss. A lease dies only once (I3), so its successor
// is another lease.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/loss_notifier.hpp"
#include "client/core/submission_queue.hpp"
#include "model/annotated_mutex.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace rowlock::client_layer {

// Thread-safe. Statements are sent by the keeper's thread alone.
class process_lease {
 public:
  process_lease(client_environment& environment, submission_queue& queue, hold_registry& holds,
                loss_notifier& notifier, session_slot& slot)
      : environment_(environment), queue_(queue), holds_(holds), notifier_(notifier), slot_(slot) {}

  // A new lease, and the state of the database in which it was made.
  struct created {
    std::shared_ptr<lease> made;
    store::database_state state;
    instant sent_at;
  };
  created create();
  // Allocates what the loss of a lease needs. Call it before submission_queue::use_lease().
  void reserve();

  // Renews the current lease. Empty: there is none, or this answer showed that it is lost.
  std::optional<store::renewal_reply> renew(instant sent_at);

  // Loses the lease if its deadline has passed. Otherwise returns the deadline.
  std::optional<instant> expire(instant now) noexcept;

  // When lost leases may be ended in the database, too. The keeper ends them, so that nobody waits for a
  // lease whose last renewal was answered too late to count.
  instant next_end() const;
  void end_lost();
  // Ends the current lease and the lost ones that may end. The holds of the current lease report
  // loss::closed.
  void end_all();

 private:
  struct lost_lease {
    model::lease_id id;
    instant expires_at;  // nobody else may have its locks earlier (I5)
  };

  void lose(const std::shared_ptr<lease>& lost, loss reason) noexcept;
  std::vector<model::lease_id> endable(instant now) const ROWLOCK_REQUIRES(mutex_);

  client_environment& environment_;
  submission_queue& queue_;
  hold_registry& holds_;
  loss_notifier& notifier_;
  session_slot& slot_;
  mutable model::annotated_mutex mutex_;
  std::vector<lost_lease> lost_ ROWLOCK_GUARDED_BY(mutex_);  // with room for one more
};

}  // namespace rowlock::client_layer
