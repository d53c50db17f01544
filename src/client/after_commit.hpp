// The follow-up work of decisions: wake-ups, kills, names to create. It is done after the commit, and before the
// requests are retried.
#pragma once

#include "client/context.hpp"
#include "client/decisions.hpp"
#include "client/worker_context.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::client_layer {

class after_commit {
 public:
  // checks: hold_registry::checks() from before the decisions' statement was sent, see hold_registry::add.
  explicit after_commit(std::uint64_t checks) : checks_(checks) {}

  // Takes a decision whose change is committed. A granted waiter of this process is notified at once, other clients
  // when run() is called. A sweep follows if waiters beyond the part of the queue that was read may be granted.
  void add(worker_context& client, const std::string& name, const decision& made);
  // A name that does not exist. Call it in name order; a repeated name counts once.
  void add_missing(const model::lock_definition& asked);

  // call: runs a function with a session.
  template <class Call>
  void run(const context& shared, Call call);

 private:
  template <class Id>
  static void make_unique(std::vector<Id>& ids);

  std::uint64_t checks_;
  std::vector<store::wakeup> wake_;
  std::vector<lease_id> kill_;
  std::vector<model::lock_definition> create_;
  bool refresh_ = false;
};

template <class Id>
void after_commit::make_unique(std::vector<Id>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

template <class Call>
void after_commit::run(const context& shared, Call call) {
  make_unique(wake_);
  make_unique(kill_);
  // Wake-ups come first, because somebody waits for them. They are hints, and the poll makes up for a lost
  // one. So a refused wake-up must not turn a committed change into a failure.
  try {
    if (!wake_.empty()) call([&](store::wakeup_verbs& session) { session.send_wakeups(wake_); });
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) throw;
    shared.log(log_level::warning, "cannot send wake-ups, so other processes will poll instead: {}",
               failure.what());
  }
  // Before any kill: a kill judges leases by this server's clock, and this lengthens them for that clock (I5).
  if (refresh_) {
    const auto database_state =
        call([](store::lock_verbs& session) { return session.record_database_state(); });
    shared.log(log_level::warning, "the database is on another server than before: the epoch is now {}",
               database_state.epoch);
  }
  if (!kill_.empty()) {
    const std::chrono::microseconds skew = shared.skew();
    const auto killed = call([&](store::lock_verbs& session) { return session.kill(kill_, skew); });
    if (!killed.empty())
      shared.log(log_level::info, "killed {} expired lease(s) of other clients", killed.size());
  }
  if (!create_.empty()) call([&](store::lock_verbs& session) { session.create(create_); });
}

}  // namespace rowlock::client_layer
