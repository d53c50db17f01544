#include "client/worker/edit_round.hpp"

#include "client/base/change_signal.hpp"
#include "client/base/errors.hpp"
#include "client/decision/sequential_edit.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace rowlock::client_layer {

namespace {

using store::edit_result;
using namespace std::chrono_literals;
using what = outcome::what;

edit_state state_of(edit_result result, const outcome& decided, const edit_item& item) {
  if (result == edit_result::skipped) return edit_state::locked;
  if (result == edit_result::missing) return item.acquired ? edit_state::again : edit_state::missing;
  if (decided.must_retry()) return edit_state::again;
  return decided.result == what::guarded ? edit_state::locked : edit_state::settled;
}

// Whether the change may concern clients that watch an office (see office_watchers). A candidate who only joins the queue
// does not concern them; but the same edit may replace a dead leader, or let the office rest after one.
bool is_of_an_office(const decision& made) {
  const auto& change = made.change;
  if (!change.row) return change.value && made.outcome.stored.kind == model::lock_kind::election;
  const bool only_queues = !change.enqueue.empty() && !change.granted_now && change.create_leases.empty();
  return change.row->kind == model::lock_kind::election && !only_queues;
}

template <class Entry>
void make_unique(std::vector<Entry>& entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
}

}  // namespace

edit_round::edit_round(worker_services& client, std::size_t count)
    : client_(client),
      check_count_(client.complete.check_count()),
      wakeups_(client.agenda.wakeups()),
      sent_at_(client.environment.time.now()),
      replies_(count) {
  requests_.reserve(count);
  items_.reserve(count);
}

void edit_round::add(const edit_item& item) {
  if (requests_.empty() || requests_.back().name != item.name) {
    requests_.push_back({item.name, item.about, {}, item.needs_data});
    if (item.trusts_in_use) requests_.back().permits_of.emplace();
  } else {
    requests_.back().about = {};
  }
  auto& request = requests_.back();
  if (!item.trusts_in_use) request.permits_of.reset();
  if (request.permits_of) request.permits_of->push_back(item.about);
  request.wanted += item.wanted;
  items_.push_back(item);
}

void edit_round::decide_each(store::lock_verbs& session, each decide) {
  decide_ = std::move(decide);
  std::size_t first = 0;
  for (auto& request : requests_) {
    request.decide = [this, first](const store::lock_view& view) { return decide_in_order(first, view); };
    first = end_of_name(first);
  }
  answered(session, session.edit(requests_));
}

void edit_round::decide_together(store::lock_verbs& session, const together& decide) {
  answered(session, session.edit_together(requests_, [&](auto results, auto views) {
    auto made = decide(results, views);
    std::vector<store::lock_change> changes(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (results[i] == edit_result::committed) changes[i] = decided(i, std::move(made[i]), views[i]);
    }
    return changes;
  }));
}

std::size_t edit_round::end_of_name(std::size_t first) const {
  const auto last = std::find_if(items_.begin() + static_cast<std::ptrdiff_t>(first), items_.end(),
                                 [&](const auto& item) { return item.name != items_[first].name; });
  return static_cast<std::size_t>(last - items_.begin());
}

store::lock_change edit_round::decide_in_order(std::size_t first, const store::lock_view& view) {
  const auto last = end_of_name(first);
  if (view.unread_takeover_in && *view.unread_takeover_in <= 0us) {
    for (auto i = first; i < last; ++i) replies_[i].made.outcome.result = what::decide_again;
    return {};
  }
  if (last == first + 1) return decided(first, decide_(first, view, {}), view);
  const auto is_leaving = [&](const edit_item& item) {
    return item.may_be_queued && view.row.hold != item.about;
  };
  std::vector<hold_id> leaving;
  for (auto i = first; i < last; ++i) {
    if (is_leaving(items_[i])) leaving.push_back(items_[i].about);
  }
  sequential_edit lock{view, client_.environment.settings.ttl};
  for (const bool waits : {true, false}) {
    for (auto i = first; i < last; ++i) {
      if (is_leaving(items_[i]) != waits) continue;
      const bool has_left = waits && lock.has_left(items_[i].about);
      lock.decided(decided(i, decide_(i, lock.view(), {true, leaving, has_left}), lock.view()));
    }
  }
  return std::move(lock).change();
}

const store::lock_change& edit_round::decided(std::size_t i, decision made, const store::lock_view& view) {
  auto& change = (replies_[i].made = std::move(made)).change;
  record(client_.environment, items_[i].name, view, change, items_[i].why);
  return change;
}

void edit_round::answered(store::lock_verbs& session, std::span<const edit_result> results) {
  std::size_t first = 0;
  for (const auto result : results) {
    for (const auto last = end_of_name(first); first < last; ++first) {
      auto& one = replies_[first];
      one.result = result;
      one.state = state_of(result, one.made.outcome, items_[first]);
    }
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (is_only_read(i)) return make_durable(session, items_[i].own);
  }
}

// This follows the commit, so its failure leaves the outcome of what was written unknown to the caller.
void edit_round::make_durable(store::lock_verbs& session, lease_id own) const {
  try {
    session.make_durable(own);
  } catch (const error& failure) {
    const bool has_written =
        std::ranges::any_of(replies_, [](const edit_reply& one) { return !one.made.change.empty(); });
    throw copy_of(failure, has_written);
  }
}

// Whether the decision about item i reports what was done before this edit: by a ghost's commit, by an
// earlier try whose answer was lost, or by another client. The change of a granted acquire need not be empty
// then: the acquire may do something else besides, such as leaving the queue of an open latch.
bool edit_round::is_only_read(std::size_t i) const {
  const auto& [change, outcome] = replies_[i].made;
  if (items_[i].own.is_nil() || change.durable) return false;
  if (outcome.result == what::granted) return items_[i].acquired || change.empty();
  return outcome.result == what::released && change.empty();
}

void edit_round::follow_up(const session_call& call, const report_to& report) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const auto& item = items_[i];
    if (replies_[i].result == edit_result::committed) notify(item.name, replies_[i].made);
    if (replies_[i].result == edit_result::missing && item.acquired) {
      if (create_.empty() || create_.back().name != item.name) create_.push_back(*item.acquired);
    }
    report(i, replies_[i]);
  }
  send_rest(call);
}

// Waiters of this client get their grants at once; send_rest() wakes the other clients. A sweep follows if
// waiters beyond the part of the queue that was read may be granted.
void edit_round::notify(const std::string& name, const decision& made) {
  const auto mine = client_.queue.lease();
  for (const auto& next : made.outcome.next) {
    if (mine && next.client == mine->id()) {
      client_.complete.granted_to_waiter(next.waiter.hold, next.token, made.change.row->has_queue,
                                         check_count_);
    } else {
      wake_.push_back({next.client, next.waiter.hold});
    }
  }
  for (const auto& whom : made.outcome.wake) {
    if (mine && whom == mine->id()) {
      client_.agenda.count_wakeup();
      client_.agenda.look_at(client_.environment.time.now());
    } else {
      wake_.push_back({whom});
    }
  }
  for (const auto& whom : made.change.notices) wake_.push_back({whom});
  if (is_of_an_office(made)) wake_.push_back({office_watchers()});
  if (made.outcome.more) client_.queue.submit(sweep_after_commit(name));
  kill_.insert(kill_.end(), made.outcome.leases.begin(), made.outcome.leases.end());
  refresh_ = refresh_ || made.outcome.result == what::unrecorded_server;
}

void edit_round::send_rest(const session_call& call) {
  const auto& environment = client_.environment;
  make_unique(wake_);
  make_unique(kill_);
  // Wake-ups come first, because somebody waits for them. They are hints, and the poll makes up for a lost
  // one. So a refused wake-up must not turn a committed change into a failure.
  try {
    if (!wake_.empty()) call([&](store::session& session) { session.send_wakeups(wake_); });
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) throw;
    environment.log(log_level::warning, "cannot send wake-ups, so other processes will poll instead: {}",
                    failure.what());
  }
  // Before any kill, because a kill judges leases by this server's clock: recording the server lengthens them
  // for that clock (I5).
  if (refresh_) {
    call([&](store::session& session) {
      const auto recorded = session.record_database_state();
      environment.log(log_level::warning,
                      "the database is on another server than before: the epoch is now {}", recorded.epoch);
    });
  }
  if (!kill_.empty()) {
    call([&](store::session& session) {
      const auto killed = session.kill(kill_, environment.skew());
      if (!killed.empty())
        environment.log(log_level::info, "killed {} expired lease(s) of other clients", killed.size());
    });
  }
  if (!create_.empty()) call([&](store::session& session) { session.create(create_); });
}

void edit_round::follow_up(store::session& session) {
  try {
    follow_up([&](const auto& work) { work(session); }, [](auto, auto&) {});
  } catch (const error& failure) {
    const bool is_done = std::ranges::any_of(replies_, [](const edit_reply& one) {
      return one.state == edit_state::settled && !one.made.change.empty();
    });
    throw copy_of(failure, is_done);
  } catch (const std::bad_alloc&) {
    // The remaining steps are left out, as the header says.
  }
}

}  // namespace rowlock::client_layer
