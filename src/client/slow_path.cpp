#include "client/slow_path.hpp"

#include "client/answers.hpp"
#include "client/in_turn.hpp"
#include "client/lease_keeper.hpp"
#include "client/reconciliation.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

// A row locked for longer than this is held by a guarded transaction, or by a client that hangs: the caller
// of a release is not kept waiting for it.
constexpr auto patience_of_a_release = 100ms;
// Each round of edits settles something; more rounds than this mean rivals that never rest. Then a pause
// helps.
constexpr int rounds_at_most = 12;
// A rival's transaction lasts two round trips; a probe is one.
constexpr int probes_at_once = 6;

}  // namespace

void slow_path::add(acquire_ptr operation) {
  items_.push_back({.acquire = std::move(operation), .release = {}});
}

void slow_path::add(release_ptr operation) {
  items_.push_back({.acquire = {}, .release = std::move(operation)});
}

void slow_path::take_back(batch& work) {
  for (auto& item : items_) {
    if (item.acquire) work.acquires.push_back(std::move(item.acquire));
    if (item.release) work.releases.push_back(std::move(item.release));
  }
  items_.clear();
}

void slow_path::settle_all() {
  for (int round = 0; !items_.empty(); ++round) {
    if (round == rounds_at_most) {
      for (auto& item : items_) row_was_locked(item);
      items_.clear();
      return;
    }
    chores todo{desk_.deliver.checks()};
    settle_round(todo, round);
    todo.run(shared_, [this](auto work) { return slot_.call(work); });
  }
}

decision slow_path::decide(request& item, const store::lock_view& view) const {
  const std::chrono::microseconds skew = shared_.skew();
  if (item.moving_to) return decide_move(view, item.acquire->hold, *item.moving_to_record);
  if (item.acquire) {
    const auto& operation = *item.acquire;
    return decide_acquire(
        view,
        {operation.definition, operation.lease->id(), operation.hold, operation.wait, operation.mode,
         operation.weight, operation.everything, operation.arrived, operation.leaving.load()},
        skew);
  }
  const auto& operation = *item.release;
  switch (operation.purpose) {
    case release_operation::aim::force: {
      const auto only = operation.hold.is_nil() ? std::optional<hold_id>{} : operation.hold;
      return decide_force(view, only, skew, operation.upto);
    }
    case release_operation::aim::sweep: return decide_sweep(view, skew);
    case release_operation::aim::release: break;
  }
  farewell ends{operation.hold};
  if (operation.is_orphan) ends.on = operation.lease->id();
  if (operation.lease && !operation.lease->is_renewed()) ends.ended = operation.lease->id();
  if (const auto rest = operation.keep_until - shared_.time.now(); rest > 0ns) {
    ends.rest = desk_.explicit_lease(lease_id::belonging_to(operation.hold),
                                     std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  auto made = decide_release(view, ends, skew);
  made.change.durable = made.change.durable || operation.how == store::durability::durable;
  return made;
}

store::lock_change slow_path::decide(std::span<request> items, const store::lock_view& view) const {
  if (items.size() == 1) {
    items.front().made = decide(items.front(), view);
    return items.front().made.change;
  }
  in_turn lock{view, shared_.settings.ttl};
  for (auto& item : items) {
    item.made = decide(item, lock.view());
    lock.decided(item.made.change);
  }
  return std::move(lock).change();
}

void slow_path::settle_round(chores& todo, int round) {
  // Stable: of one name, who came first is decided first, and has a place to be found in by those after it.
  std::stable_sort(items_.begin(), items_.end(),
                   [](const auto& a, const auto& b) { return a.name() < b.name(); });
  std::vector<store::edit_request> requests;
  std::vector<std::span<request>> groups;
  const auto checks = desk_.deliver.checks();
  for (auto first = items_.begin(); first != items_.end();) {
    const auto last =
        std::find_if(first, items_.end(), [&](const auto& item) { return item.name() != first->name(); });
    const std::span<request> group{first, last};
    for (auto& item : group) {
      item.sent_at = shared_.time.now();
      item.hints = desk_.keeper.hints_heard();
      if (item.acquire) {
        item.acquire->in_flight = true;
        item.acquire->checks = checks;
      }
    }
    const auto about = first->acquire ? first->acquire->hold : first->release->hold;
    requests.push_back({first->name(), group.size() == 1 ? about : hold_id{},
                        [this, group](const store::lock_view& view) { return decide(group, view); }});
    groups.push_back(group);
    first = last;
  }
  const auto results = slot_.call([&](store::session& session) { return session.edit(requests); });
  std::vector<request> unsettled;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (auto& item : groups[i]) {
      if (item.acquire) item.acquire->in_flight = false;
      if (settle(item, results[i], todo, round)) unsettled.push_back(std::move(item));
    }
  }
  items_ = std::move(unsettled);
}

bool slow_path::settle(request& item, store::edit_result result, chores& todo, int round) {
  switch (result) {
    case store::edit_result::skipped:
      // Somebody waits for what a release gives: it asks again at once, for rivals are here a moment only.
      if (item.release && round < probes_at_once) return true;
      row_was_locked(item);
      return false;
    case store::edit_result::missing:
      if (item.release) {
        was_absent(item.release);
        return false;
      }
      todo.add_missing(item.acquire->definition);
      return true;
    case store::edit_result::committed: break;
  }
  if (const auto& row = item.made.change.row; row && !row->has_queue) desk_.crowded.remove(item.name());
  todo.add(desk_, item.name(), item.made);
  if (item.moving_to) return settle_move(item);
  if (item.made.outcome.asks_again()) return true;
  return item.acquire ? settle_acquire(item) : settle_release(item);
}

bool slow_path::settle_acquire(request& item) {
  const auto& operation = item.acquire;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::granted:
      operation->contended = item.made.change.row && item.made.change.row->has_queue;
      operation->weight = made.weight;
      if (operation->ttl && operation->lease->is_valid(shared_.time.now())) {
        auto id = lease_id::random();
        item.moving_to_record = desk_.explicit_lease(id, *operation->ttl);
        item.moving_to = std::make_shared<lease>(id, *operation->ttl, false, item.moving_to_record->client);
        operation->slow = true;
        return true;
      }
      desk_.deliver.granted(operation, made.token);
      return false;
    case what::queued: wait_in_room(desk_, operation, made.takeover_in, item.hints); return false;
    case what::busy: answer_busy(shared_, operation); return false;
    case what::mismatch:
      operation->answer.fail(std::make_exception_ptr(mismatch(operation->definition, made.stored)));
      return false;
    case what::broken:
      operation->answer.fail(std::make_exception_ptr(broken(operation->definition.name)));
      return false;
    case what::expired:
    case what::foreign:
    case what::again:
    case what::overrun:
    case what::released:
    case what::absent:
    case what::guarded: break;
  }
  operation->answer.fail(
      std::make_exception_ptr(error(errc::internal, "an acquire was decided as a release")));
  return false;
}

// I7: asked again after a lost answer, decide_move says granted as well.
bool slow_path::settle_move(request& item) {
  if (item.made.outcome.result == what::guarded) {
    row_was_locked(item);
    return false;
  }
  if (item.made.outcome.result != what::granted) {
    // The process's lease died in between; the acquire starts anew.
    desk_.deliver.restart(item.acquire);
    return false;
  }
  item.moving_to->confirm(item.sent_at + item.moving_to->ttl() - shared_.margin(item.moving_to->ttl()));
  item.acquire->lease = item.moving_to;
  desk_.deliver.granted(item.acquire, item.made.outcome.token);
  return false;
}

bool slow_path::settle_release(request& item) {
  const auto& operation = item.release;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::guarded:
      if (operation->answer) operation->answer->complete(release_result::pending);
      row_was_locked(item);
      return false;
    case what::released:
      // Then it is on disk; and what rests must not be sent again, which would end the rest.
      if (item.made.change.durable || operation->keep_until > shared_.time.now()) {
        operation->how = store::durability::durable;
      }
      answer_release(desk_, operation, release_result::released);
      return false;
    default: was_absent(operation); return false;
  }
}

// Absent after an answer was lost means that the first try did it: the hold stood when that was sent (I7).
void slow_path::was_absent(const release_ptr& operation) {
  using aim = release_operation::aim;
  const bool done = operation->in_doubt && operation->purpose != aim::sweep;
  // It was taken away by force; or what was read is behind what was granted.
  const bool is_strange = operation->purpose == aim::release && operation->was_held && !operation->in_doubt &&
                          operation->lease->is_valid(shared_.time.now());
  if (is_strange) desk_.reconcile.request();
  answer_release(desk_, operation, done ? release_result::released : release_result::lost);
}

// Somebody has the row: a rival for a moment, a guarded transaction, or a client that hangs.
void slow_path::row_was_locked(request& item) {
  const auto now = shared_.time.now();
  auto& retry = item.acquire ? item.acquire->retry : item.release->retry;
  if (!retry.locked_since) retry.locked_since = item.sent_at;
  if (item.acquire) {
    // It may be tried as before; but where it may have got something, the fast path cannot tell.
    if (item.acquire->joins() && !item.moving_to) {
      item.acquire->tried = false;
    } else {
      item.acquire->slow = true;
    }
    // A lock that somebody holds, in a guarded transaction, was found to be busy before.
    if (!item.acquire->wait && retry.is_locked_out(now)) {
      const auto locked = std::make_exception_ptr(row_is_locked(item.name()));
      if (item.acquire->answer.fail(locked)) return desk_.deliver.withdraw(*item.acquire);
    }
    desk_.queue.delay(item.acquire, retry.row.next());
    return;
  }
  const auto& operation = item.release;
  if (operation->answer && now > *retry.locked_since + patience_of_a_release) {
    operation->answer->complete(release_result::pending);
  }
  operation->fast = false;
  const bool is_background = operation->purpose == release_operation::aim::sweep &&
                             (!operation->answer || operation->answer->is_settled());
  if (is_background && retry.failures++ == 0) retry.again = sweep_pause();
  desk_.queue.delay(operation, is_background ? retry.again.next() : retry.row.next());
}

}  // namespace rowlock::client_layer
