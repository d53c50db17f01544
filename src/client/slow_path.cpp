#include "client/slow_path.hpp"

#include "client/history_lines.hpp"
#include "client/lease_keeper.hpp"
#include "client/reconciliation.hpp"
#include "client/sequential_edit.hpp"
#include "client/worker_context.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

// A row that is locked for longer belongs to a guarded transaction or to a client that hangs. The caller of a
// release does not wait for that.
constexpr auto release_row_limit = 250ms;
// So that rivals, each of which locks the row for a moment, seldom keep it at every try until then.
constexpr std::chrono::nanoseconds longest_awaited_pause = 5ms;
// Each round of edits makes progress. More rounds than this mean constant rivals, and a pause helps.
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

void slow_path::decide_all() {
  for (int round = 0; !items_.empty(); ++round) {
    if (round == rounds_at_most) {
      for (auto& item : items_) {
        on_row_locked(item);
        item = {};
      }
      items_.clear();
      return;
    }
    after_commit todo{client_.complete.checks()};
    decide_round(todo, round);
    todo.run(context_, [this](auto work) { return slot_.call(work); });
  }
}

// A lease for one hold of this client. Notices about it go to the client's own lease.
store::lease_record slow_path::explicit_lease(lease_id id, std::chrono::milliseconds ttl) const {
  const auto own = client_.keeper.lease();
  return context_.process.lease(id, own ? own->id() : id, ttl);
}

decision slow_path::decide(request& item, const store::lock_view& view) const {
  const std::chrono::microseconds skew = context_.skew();
  if (item.moving_to_record) return decide_move(view, item.acquire->hold, *item.moving_to_record);
  if (item.acquire) {
    const auto& operation = *item.acquire;
    return decide_acquire(view,
                          {operation, operation.lease->id(), operation.hold, operation.wait,
                           operation.progress.was_queued(), operation.answer.is_leaving()},
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
  release_spec ends{operation.hold};
  ends.may_be_queued = item.is_joined && operation.may_be_queued();
  if (operation.only_on_lease) ends.on = operation.lease->id();
  if (operation.lease && !operation.lease->is_renewed()) ends.ended = operation.lease->id();
  if (const auto rest = operation.keep_until - context_.time.now(); rest > 0ns) {
    ends.rest = explicit_lease(lease_id::belonging_to(operation.hold),
                               std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  auto made = decide_release(view, ends, skew);
  made.change.durable = made.change.durable || operation.how == store::durability::durable;
  return made;
}

store::lock_change slow_path::decide(std::span<request> items, const store::lock_view& view) const {
  const auto decide_one = [&](request& item, const store::lock_view& seen) {
    item.made = decide(item, seen);
    const bool forces = item.release && item.release->purpose == release_operation::aim::force;
    record(context_, item.name(), seen, item.made.change, forces ? intent::force : intent::use);
  };
  if (items.size() == 1) {
    decide_one(items.front(), view);
    return items.front().made.change;
  }
  // What waits leaves before what holds, which would otherwise hand the lock to it.
  const auto waits = [&view](const request& item) {
    return item.release && item.release->may_be_queued() && view.row.hold != item.release->hold;
  };
  std::stable_partition(items.begin(), items.end(), waits);
  sequential_edit lock{view, context_.settings.ttl};
  for (auto& item : items) {
    decide_one(item, lock.view());
    lock.decided(item.made.change);
  }
  return std::move(lock).change();
}

// Whether it needs to know of no other hold than its own. What it frees goes to the waiters that fit by in_use, which
// also counts the dead; the sweep and the waiters' polls find those.
bool slow_path::is_plain_release(const request& item) const {
  if (!item.release || item.release->purpose != release_operation::aim::release) return false;
  const bool known =
      item.release->mode == model::lock_mode::exclusive || model::is_shareable(item.release->kind);
  return item.release->was_held && known && !context_.recorded.contains(item.name());
}

void slow_path::decide_round(after_commit& todo, int round) {
  // Stable: requests for one name are decided in the order in which they came.
  std::stable_sort(items_.begin(), items_.end(),
                   [](const auto& a, const auto& b) { return a.name() < b.name(); });
  std::vector<store::edit_request> requests;
  std::vector<std::span<request>> groups;
  const auto checks = client_.complete.checks();
  for (auto first = items_.begin(); first != items_.end();) {
    const auto last =
        std::find_if(first, items_.end(), [&](const auto& item) { return item.name() != first->name(); });
    const std::span<request> group{first, last};
    for (auto& item : group) {
      item.sent_at = context_.time.now();
      item.wakeups = client_.keeper.wakeups_received();
      item.is_joined = group.size() > 1;
      if (item.acquire) {
        item.acquire->progress.sent();
        item.acquire->checks = checks;
      }
    }
    const auto about = first->acquire ? first->acquire->hold : first->release->hold;
    requests.push_back({first->name(), group.size() == 1 ? about : hold_id{},
                        [this, group](const store::lock_view& view) { return decide(group, view); }, false,
                        group.size() == 1 && is_plain_release(*first)});
    groups.push_back(group);
    first = last;
  }
  const auto results = slot_.call([&](store::lock_verbs& session) {
    auto edited = session.edit(requests);
    const auto stood = std::ranges::find_if(items_, &request::has_read_its_grant);
    if (stood != items_.end()) session.make_durable(stood->acquire->lease->id());
    return edited;
  });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (auto& item : groups[i]) {
      if (is_over(item, results[i], todo, round)) item = {};
    }
  }
  std::erase_if(items_, [](const request& item) { return item.is_empty(); });
}

// If memory runs out, it is in doubt.
bool slow_path::is_over(request& item, store::edit_result result, after_commit& todo, int round) {
  if (item.acquire) item.acquire->answered();
  try {
    return !finish(item, result, todo, round);
  } catch (...) {
    if (item.acquire) item.acquire->progress.sent();
    throw;
  }
}

bool slow_path::finish(request& item, store::edit_result result, after_commit& todo, int round) {
  switch (result) {
    case store::edit_result::skipped:
      // Somebody may wait for this release, and rivals lock the row only for a moment: retry at once.
      if (item.release && !item.release->retry.locked_since() && round < probes_at_once) return true;
      on_row_locked(item);
      return false;
    case store::edit_result::missing:
      if (item.release) {
        on_absent(item.release);
        return false;
      }
      todo.add_missing(item.acquire->definition);
      return true;
    case store::edit_result::committed: break;
  }
  if (const auto& row = item.made.change.row; row && !row->has_queue) client_.contended.remove(item.name());
  todo.add(client_, item.name(), item.made);
  if (item.moving_to_record) return finish_move(item);
  if (item.made.outcome.must_retry()) return true;
  return item.acquire ? finish_acquire(item) : finish_release(item);
}

bool slow_path::finish_acquire(request& item) {
  const auto& operation = item.acquire;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::granted:
      operation->progress.granted(item.made.change.row && item.made.change.row->has_queue);
      operation->weight = made.weight;
      if (operation->ttl && operation->lease->is_valid(context_.time.now())) {
        const auto id = lease_id::random();
        auto record = explicit_lease(id, *operation->ttl);
        operation->moving_to = std::make_shared<lease>(id, *operation->ttl, false, record.client);
        item.moving_to_record = std::move(record);
        // For a withdrawal, which is retried for as long as this lease lives.
        operation->moving_to->confirm(context_.time.now(), 0ns);
        operation->progress.needs_edit();
        return true;
      }
      client_.complete.granted(operation, made.token);
      return false;
    case what::queued: client_.complete.queued(operation, made.takeover_in, item.wakeups); return false;
    case what::busy: client_.complete.busy(operation); return false;
    case what::mismatch:
      operation->answer.fail(made_failure([&] { return mismatch(operation->definition, made.stored); }));
      return false;
    case what::broken:
      operation->answer.fail(made_failure([&] { return broken(operation->definition.name); }));
      return false;
    case what::expired:
    case what::foreign:
    case what::again:
    case what::overrun:
    case what::in_doubt:
    case what::released:
    case what::absent:
    case what::guarded: break;
  }
  operation->answer.fail(
      std::make_exception_ptr(error(errc::internal, "an acquire was decided as a release")));
  return false;
}

// After a lost answer decide_move says granted again (I7).
bool slow_path::finish_move(request& item) {
  if (item.made.outcome.result == what::guarded) {
    on_row_locked(item);
    return false;
  }
  if (item.made.outcome.result != what::granted) {
    // The client's lease was lost in between.
    item.acquire->moving_to.reset();
    client_.complete.restart(item.acquire);
    return false;
  }
  auto own = std::exchange(item.acquire->moving_to, nullptr);
  own->confirm(item.sent_at, context_.margin(own->ttl()));
  item.acquire->lease = std::move(own);
  client_.complete.granted(item.acquire, item.made.outcome.token);
  return false;
}

bool slow_path::finish_release(request& item) {
  const auto& operation = item.release;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::guarded:
      if (operation->answer) operation->answer->complete(release_result::pending);
      on_row_locked(item);
      return false;
    case what::released:
      // The release is on disk. One that leaves the lock resting is not sent again either, because that would
      // end the rest.
      if (item.made.change.durable || operation->keep_until > context_.time.now()) {
        operation->how = store::durability::durable;
      }
      client_.complete.released(operation, release_result::released);
      return false;
    default: on_absent(operation); return false;
  }
}

// Absent, after a lost answer, means that the earlier try succeeded (I7), or that the hold was released by force before
// that. The database does not show which. The former is far more likely, so only a caller that needs evidence is told
// `unknown`.
void slow_path::on_absent(const release_ptr& operation) {
  using aim = release_operation::aim;
  const bool done = operation->in_doubt && operation->purpose != aim::sweep;
  // It was released by force, or the read shows an older state than the grant.
  const bool is_strange = operation->purpose == aim::release && operation->was_held && !operation->in_doubt &&
                          operation->lease->is_valid(context_.time.now());
  if (is_strange) client_.reconcile.request();
  if (done && operation->must_be_certain && operation->answer) {
    operation->answer->complete(release_result::unknown);
  }
  client_.complete.released(operation, done ? release_result::released : release_result::lost);
}

// The row is locked: by a rival for a moment, by a guarded transaction, or by a client that hangs.
void slow_path::on_row_locked(request& item) {
  const auto now = context_.time.now();
  auto& retry = item.acquire ? item.acquire->retry : item.release->retry;
  retry.row_locked(item.sent_at);
  if (item.acquire) {
    item.acquire->progress.row_locked(item.acquire->joins() && !item.moving_to_record);
    // If a holder kept the lock in a guarded transaction, the request was answered as busy before.
    if (!item.acquire->wait && retry.is_locked_out(now)) {
      const auto locked =
          made_failure([&] { return row_is_locked(item.name(), retry_state::row_lock_limit); });
      if (item.acquire->answer.fail(locked)) return client_.queue.withdraw(*item.acquire);
    }
    client_.queue.delay(item.acquire, retry.row.next());
    return;
  }
  const auto& operation = item.release;
  if (operation->answer && now > *retry.locked_since() + release_row_limit) {
    operation->answer->complete(release_result::pending);
  }
  operation->fast = false;
  const bool is_awaited = operation->answer && !operation->answer->is_complete();
  if (operation->purpose == release_operation::aim::sweep && !is_awaited) {
    return client_.queue.delay(operation, retry.background.next());
  }
  const std::chrono::nanoseconds pause = retry.row.next();
  client_.queue.delay(operation, is_awaited ? std::min(pause, longest_awaited_pause) : pause);
}

}  // namespace rowlock::client_layer
