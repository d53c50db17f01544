// Compares the holds of this process with the database: all of them when a renewal or a wake-up shows that
// some may be gone, and a few with each renewal, for losses that no notice reports.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/hold_registry.hpp"
#include "client/core/loss_notifier.hpp"
#include "client/core/submission_queue.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rowlock::client_layer {

// Used by the lease keeper's thread. The audit remembers what a renewal has shown until the check of all
// holds that follows has succeeded.
class hold_audit {
 public:
  hold_audit(client_environment& environment, submission_queue& queue, hold_registry& holds,
             recent_releases& releases, loss_notifier& loss_notifier, session_slot& slot);

  // The process has a new lease, made in that state of the database. It may still have earlier holds on
  // explicit-ttl leases.
  void begin(model::lease_id client, const store::database_state& database_state);
  // A renewal was answered.
  void on_renewal(const store::renewal_reply& reply, instant sent_at);
  // A wake-up came that names no waiter. A hold may have been lost by force, or a release request may have come.
  void suspect() noexcept { suspected_ = true; }

  // When the next step is due.
  instant next() const;
  // Sends a statement or two. Returns true if a renewal should come early, because that tells why a hold is
  // missing.
  bool step();
  // Called when the thread ends: drops the holds that were still to be checked.
  void forget();

  // Called when all holds have been checked after the database changed.
  std::function<void(const store::database_state&)> on_database_changed;

 private:
  struct renewal_report {
    store::database_state database_state;
    std::int64_t notice = 0;
    instant sent_at{};
  };
  // A check of all holds, in parts.
  struct check {
    std::vector<hold_ptr> holds;
    std::size_t next = 0;
    std::optional<renewal_report> about{};  // empty: the check only looks whether a hold is missing
    loss reason = loss::gone;
  };

  void begin_check();
  bool go_on_with_check();
  bool look_at_page();
  void look_at_unchecked();
  void look_at_unreachable();
  void pass_on_request();
  std::vector<hold_ptr> missing(std::span<const hold_ptr> holds);
  void suspect_again() noexcept;
  void lose(const std::vector<hold_ptr>& holds, loss reason);
  void send_releases_again();

  client_environment& environment_;
  submission_queue& queue_;
  hold_registry& holds_;
  recent_releases& releases_;
  loss_notifier& loss_notifier_;
  session_slot& slot_;

  // All holds have been checked since the database had this state and the lease this notice.
  store::database_state state_;
  std::int64_t notice_ = 0;
  loss reason_ = loss::gone;  // of what the latest check found missing

  std::optional<renewal_report> latest_report_;  // from the latest renewal, not yet handled
  std::optional<check> check_;
  std::vector<hold_ptr> asked_;  // holds with a release request that was not read yet
  bool skipped_ = false;         // a hold that moves was missing in the check: the notice may be about it
  bool suspicious_ = false;      // a hold is missing, and the reason is not known
  bool suspected_ = false;
  bool page_due_ = false;
  instant suspect_at_{};  // suspected_ is not acted on before this time
  instant unreachable_at_{};
};

}  // namespace rowlock::client_layer
