// The thread that keeps a client alive, on a connection of its own: it renews the lease and listens for wake-ups. In
// between it polls for the waiters, checks the holds and sweeps. While no worker is connected it also sends releases.
#pragma once

#include "client/background_sweep.hpp"
#include "client/change_signal.hpp"
#include "client/completions.hpp"
#include "client/hold_audit.hpp"
#include "client/loss_notifier.hpp"
#include "client/process_lease.hpp"
#include "client/repeated_failures.hpp"
#include "client/session_slot.hpp"
#include "client/stoppable_sleep.hpp"
#include "client/submission_queue.hpp"
#include "client/waiter_poll.hpp"
#include "client/waiter_registry.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

using model::hold_id;
using model::lease_id;

class lease_keeper {
 public:
  lease_keeper(context& shared, submission_queue& queue, waiter_registry& waiters, completions& completions,
               hold_registry& holds, recent_releases& releases, loss_notifier& loss_notifier,
               connector connect);

  // As process_lease::current().
  std::shared_ptr<client_layer::lease> lease() const { return lease_.current(); }

  session_slot& slot() noexcept { return slot_; }
  const session_slot& slot() const noexcept { return slot_; }

  // ---- before run() ----

  // The database sends no wake-ups, so it is polled while somebody waits.
  void must_poll() noexcept { must_poll_ = true; }
  // What breaks one connection of this client breaks all of them (SQLite's side files), and no new one can be
  // made while a broken one is kept. So the workers must check theirs, too.
  void breaks_with_workers() noexcept { breaks_with_workers_ = true; }
  // session::warning() has been logged with this text.
  void warned_of(std::string danger) { warned_ = std::move(danger); }
  // Lends this connection to the fallback worker, which sends releases while no other worker is connected.
  // note_connection: called when the connection may have been made or lost. run: sends what is due, and
  // begins nothing after the given time.
  void lend_to(std::function<void()> note_connection, std::function<void(instant)> run) {
    note_connection_ = std::move(note_connection);
    run_fallback_ = std::move(run);
  }
  // Called when a renewal has shown that the database changed, and all holds have been checked since.
  void on_database_changed(std::function<void(const store::database_state&)> called) {
    audit_.on_database_changed = std::move(called);
  }

  // ---- the thread ----

  void run() noexcept;  // until stop()
  void stop() noexcept;
  // Ends the lease in the database, or logs why it expires by itself. Called after run() has returned.
  void end_lease() noexcept;

  // ---- from any thread ----

  // Moves the next look at the waiters forward to that time.
  void look_at(instant when) noexcept;
  // Looks at one waiter alone, now.
  void look_up(model::hold_id waiter) noexcept;
  void renew_soon() noexcept;
  // From now on office_signal() reports that the leader of some election may have changed; it never does on a
  // database that must be polled.
  void watch_offices();
  bool watches_offices() const noexcept { return watches_offices_.load(); }
  change_signal& office_signal() noexcept { return office_signal_; }
  // How many wake-ups have come, plus the grants to waiters that were not registered yet.
  std::uint64_t wakeups_received() const noexcept { return poll_.wakeups(); }
  void count_wakeup() noexcept { poll_.count_wakeup(); }
  // For the watchdog: as process_lease::expire().
  std::optional<instant> expire(instant now) noexcept { return lease_.expire(now); }

 private:
  // One of the keeper's duties. If it fails, it is retried after a growing pause of its own, and nothing else
  // waits for it.
  struct recurring_step {
    backoff pause = reconnect_pause();
    instant not_before{};
  };

  void step();
  bool wait_until(instant event);
  template <class Body>
  void attempt(recurring_step& what, instant due, Body body);
  void handle_failure() noexcept;
  void let_workers_look();
  void report(const error& failure);
  void listen_to_offices();
  void make_lease();
  void renew();
  void poll_wakeups();
  void look();
  // granted: as session::woken_waiters().
  void on_wakeup(const std::vector<hold_id>& granted = {});
  instant renewal_due() const;
  instant next_event() const;

  context& context_;
  submission_queue& queue_;
  waiter_registry& waiters_;
  hold_registry& holds_;
  session_slot slot_;
  process_lease lease_;
  waiter_poll poll_;
  hold_audit audit_;
  background_sweep sweep_;

  stoppable_sleep pauses_;  // closed: stop() was called

  using interest = session_slot::interest;
  std::atomic<interest> waits_for_{interest::waiters};
  instant watches_until_{};  // until then the thread waits with interest::waiters
  instant awake_until_{};    // later, until then, it waits with interest::holders
  std::atomic<bool> renew_now_{false};
  std::atomic<bool> wants_offices_{false};
  std::atomic<bool> watches_offices_{false};
  change_signal office_signal_;
  bool must_poll_ = false;
  bool breaks_with_workers_ = false;
  task_ptr look_of_workers_;  // the latest of let_workers_look(); used by the keeper's thread
  std::function<void()> note_connection_;
  std::function<void(instant)> run_fallback_;

  // Used by the keeper's thread alone.
  backoff reconnect_ = reconnect_pause();
  backoff contended_ = row_probe();  // a locked row comes free without notice
  repeated_failures failures_;
  recurring_step renewing_, listening_, looking_, naming_, asking_, auditing_, ending_, carrying_, sweeping_;
  instant renew_at_{};
  std::string warned_;  // the latest warning; empty: it is over
};

}  // namespace rowlock::client_layer
