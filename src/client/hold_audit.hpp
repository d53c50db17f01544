// Compares the holds of this process with what the database has of them, when news say that some may be gone,
// and a few now and then for losses that nobody tells of.
#pragma once

#include "client/context.hpp"
#include "client/hold_registry.hpp"
#include "client/loss_notifier.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rowlock::client_layer {

// Used by the keeper's thread. News are remembered until the check that they call for has succeeded.
class hold_audit {
 public:
  hold_audit(context& shared, submission_queue& queue, hold_registry& holds, recent_releases& releases,
             loss_notifier& loss_notifier, session_slot& slot);

  // The process has a new lease, made in that database_state. Holds of before it may be there: on
  // explicit-ttl leases.
  void begin(model::lease_id client, const store::database_state& database_state);
  // A renewal was answered.
  void on_renewal(const store::renewal_reply& reply, instant sent_at);
  // A wake-up came that explains nothing: a lock may have been taken by force, or be asked for.
  void suspect() noexcept { suspected_ = true; }

  // When there is something to do.
  instant next() const;
  // Does a statement or two of it. True: a renewal should come early, for it tells why a hold is missing.
  bool step();
  // The thread ends.
  void forget();

  // Called when all holds have been checked in another database_state than the one before.
  std::function<void(const store::database_state&)> on_database_changed;

 private:
  struct news {
    store::database_state database_state;
    std::int64_t notice = 0;
    instant sent_at{};
  };
  // A check of all holds, in parts.
  struct check {
    std::vector<hold_ptr> holds;
    std::size_t next = 0;
    std::optional<news> about{};  // empty: it only looks whether one is missing
    loss reason = loss::gone;
  };

  void begin_check();
  bool go_on_with_check();
  bool look_at_page();
  void look_at_unchecked();
  void look_at_unreachable();
  void pass_on_request();
  std::vector<hold_ptr> missing(std::span<const hold_ptr> holds);
  void lose(const std::vector<hold_ptr>& holds, loss reason);
  void send_releases_again();

  context& context_;
  submission_queue& queue_;
  hold_registry& holds_;
  recent_releases& releases_;
  loss_notifier& loss_notifier_;
  session_slot& slot_;

  // What all holds have been checked for.
  store::database_state state_;
  std::int64_t notice_ = 0;
  loss reason_ = loss::gone;  // of what the latest check found missing

  std::optional<news> news_;  // of the latest renewal, not yet looked at
  std::optional<check> check_;
  std::vector<hold_ptr> asked_;  // they are asked for; by whom is not known yet
  bool suspicious_ = false;      // a hold was found missing, and nobody knows why
  bool suspected_ = false;
  bool page_due_ = false;
  instant suspect_at_{};  // doubts are not looked into before
  instant unreachable_at_{};
};

}  // namespace rowlock::client_layer
