// The thread that keeps a client alive, on a connection of its own: it renews the lease and listens for wake-ups. In
// between it does its other duties, each of which is a statement or two. So a renewal waits for no more than that.
//
//   duty          | when it is due                                  | what it does
//   renew         | a few times in each ttl, or when somebody asks  | renews the lease, and passes on what the
//                 |                                                 | answer shows of the database
//   listen        | the first candidate watches an election         | listens to changes of leaders, too
//   look          | every poll interval while somebody waits, at a  | looks up the waiters (waiter_poll)
//                 | takeover, or after a wake-up                    |
//   look at named | a wake-up has named waiters                     | looks up those
//   poll          | somebody waits, and the database sends no       | asks the database for wake-ups
//                 | wake-ups                                        |
//   audit         | a renewal or a wake-up leaves holds to be       | checks some holds (hold_audit)
//                 | checked                                         |
//   end lost      | a lost lease would have expired                 | ends it in the database
//   send releases | no worker is connected, and there are releases  | sends them until the next renewal is due
//   sweep         | every sweep interval                            | frees what dead clients left behind
//                 |                                                 | (background_sweep)
#pragma once

#include "client/base/change_signal.hpp"
#include "client/base/repeated_failures.hpp"
#include "client/base/stoppable_sleep.hpp"
#include "client/connection/session_slot.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/loss_notifier.hpp"
#include "client/core/request_settler.hpp"
#include "client/core/submission_queue.hpp"
#include "client/core/waiter_registry.hpp"
#include "client/keeper/background_sweep.hpp"
#include "client/keeper/hold_audit.hpp"
#include "client/keeper/process_lease.hpp"
#include "client/keeper/waiter_poll.hpp"

#include <algorithm>
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
  lease_keeper(client_environment& environment, keeper_agenda& agenda, submission_queue& queue,
               waiter_registry& waiters, request_settler& settler, hold_registry& holds,
               recent_releases& releases, loss_notifier& loss_notifier, connector connect);
  lease_keeper(const lease_keeper&) = delete;
  lease_keeper& operator=(const lease_keeper&) = delete;

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

  // From now on office_signal() reports that the leader of some election may have changed; it never does on a
  // database that must be polled.
  void watch_offices();
  bool watches_offices() const noexcept { return watches_offices_.load(); }
  change_signal& office_signal() noexcept { return office_signal_; }
  // For the watchdog: as process_lease::expire().
  std::optional<instant> expire(instant now) noexcept { return lease_.expire(now); }

 private:
  // If a duty fails, it is retried after a growing pause of its own, and no other waits for it.
  struct duty {
    std::function<instant()> due;
    std::function<void()> run;
    backoff pause = reconnect_pause();
    instant not_before{};

    instant next() const { return std::max(due(), not_before); }
  };

  std::vector<duty> all_duties();
  void step();
  bool wait_until(instant event);
  void attempt(duty& one);
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
  instant next_event() const;

  client_environment& environment_;
  keeper_agenda& agenda_;
  submission_queue& queue_;
  waiter_registry& waiters_;
  hold_registry& holds_;
  session_slot slot_;
  process_lease lease_;
  waiter_poll poll_;
  hold_audit audit_;
  background_sweep sweep_;

  stoppable_sleep pauses_;  // closed: stop() was called

  instant watches_until_{};  // until then the thread waits with interest::waiters
  instant awake_until_{};    // later, until then, it waits with interest::holders
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
  instant renew_at_{};
  std::vector<duty> duties_ = all_duties();  // in the order in which they are done; the first is the renewal
  std::string warned_;                       // the latest warning; empty: it is over
};

}  // namespace rowlock::client_layer
