// Keeps the process's one lease on a connection of its own, which also carries what hears of the database's
// news: the poll for those who wait, the audit of holds and the background sweep; and releases, while no
// other connection is to be had.
#pragma once

#include "client/background_sweep.hpp"
#include "client/change_signal.hpp"
#include "client/completions.hpp"
#include "client/hold_audit.hpp"
#include "client/loss_notifier.hpp"
#include "client/repeated_failures.hpp"
#include "client/session_slot.hpp"
#include "client/submission_queue.hpp"
#include "client/waiter_poll.hpp"
#include "client/waiter_registry.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace rowlock::client_layer {

using model::hold_id;
using model::lease_id;

class statement_worker;

class lease_keeper {
 public:
  lease_keeper(context& shared, submission_queue& queue, waiter_registry& waiters, completions& completions,
               hold_registry& holds, recent_releases& releases, loss_notifier& loss_notifier,
               connector connect);

  // The lease on which new requests go. Null while there is none, or the last one is past its deadline.
  std::shared_ptr<client_layer::lease> lease() const;

  session_slot& slot() noexcept { return slot_; }
  const session_slot& slot() const noexcept { return slot_; }
  // Before run(): the database tells nobody of changes. It is asked while somebody waits, and else left
  // alone.
  void must_poll() noexcept { must_poll_ = true; }
  // Before run(): that of session::warning() has been logged.
  void warned_of(std::string danger) { warned_ = std::move(danger); }
  // Before run(): carries releases by this connection while no worker has one. Lives as long as this.
  void lend_to(statement_worker& fallback) noexcept { fallback_ = &fallback; }
  void run();  // the thread's body, until stop()
  void stop();
  // Ends the lease in the database. After run() has returned; throws what the store throws.
  void end_lease();

  // Before run(): called when a renewal has shown another database_state than the one before, and all holds
  // have been checked in it.
  void on_database_changed(std::function<void(const store::database_state&)> told) {
    audit_.on_database_changed = std::move(told);
  }

  // Any thread. Brings forward a look at the waiting room, or a renewal.
  void look_at(instant when);
  // The same for one waiter alone, now.
  void look_up(model::hold_id waiter);
  void renew_soon();
  // Any thread. From now on news of offices are published; soon, and never where the database must be asked.
  void watch_offices();
  bool watches_offices() const noexcept { return watches_offices_.load(); }
  change_signal& office_signal() noexcept { return office_signal_; }
  // How many wake-ups have come, and grants to waiters who were not in the room. Any thread.
  std::uint64_t wakeups_received() const noexcept { return poll_.wakeups(); }
  void count_wakeup() noexcept { poll_.count_wakeup(); }
  // Watchdog: ends the lease once its deadline has passed. The next deadline to watch, if there is one.
  std::optional<instant> expire(instant now);

 private:
  // What is done again and again. Where it fails, what it had to do is still due, after a pause of its own
  // that grows; nothing else waits for it.
  struct recurring_step {
    backoff pause = reconnect_pause();
    instant not_before{};
  };
  struct ended_lease {
    lease_id id;
    instant expires_at;  // nobody else is let in before (I5)
  };

  void step();
  template <class Body>
  void attempt(recurring_step& what, instant due, Body body);
  void report(const error& failure);
  bool is_stopped() const;
  void listen_to_offices();
  void make_lease();
  void lose_lease(const std::shared_ptr<client_layer::lease>& lost, loss reason);
  void renew();
  void poll_wakeups();
  void look();
  // granted: as session::woken_waiters().
  void on_wakeup(const std::vector<hold_id>& granted = {});
  instant first_end() const;
  void end_dead_leases();
  instant renewal_due() const;
  instant next_event() const;
  void pause(std::chrono::nanoseconds length);

  context& context_;
  submission_queue& queue_;
  waiter_registry& waiters_;
  hold_registry& holds_;
  loss_notifier& loss_notifier_;
  session_slot slot_;
  waiter_poll poll_;
  hold_audit audit_;
  background_sweep sweep_;

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  std::shared_ptr<client_layer::lease> lease_;
  std::vector<ended_lease> dead_;  // to be ended in the database
  bool stopped_ = false;

  std::atomic<bool> renew_now_{false};
  std::atomic<bool> wants_offices_{false};
  std::atomic<bool> watches_offices_{false};
  change_signal office_signal_;
  bool must_poll_ = false;
  statement_worker* fallback_ = nullptr;

  // Used by the keeper's thread alone.
  backoff reconnect_ = reconnect_pause();
  backoff contended_ = row_probe();  // what is locked, as a row is, comes free without notice
  repeated_failures failures_;
  recurring_step renewing_, listening_, looking_, naming_, asking_, auditing_, ending_, carrying_, sweeping_;
  instant renew_at_{};
  std::string warned_;               // the latest, or empty since it is over
  bool unexplained_wakeup_ = false;  // a wake-up has come that no look has explained yet
};

}  // namespace rowlock::client_layer
