#include "client/worker/slow_path.hpp"

#include "client/core/reconciliation.hpp"
#include "client/worker/worker_services.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

// A row that is locked for longer belongs to a guarded transaction or to a client that hangs. The caller of a
// release does not wait for that. A forced release or a sweep waits no longer than a statement may take, and must learn
// of the row before it gives up.
std::chrono::nanoseconds release_row_limit(const client_environment& environment) {
  return std::min<std::chrono::nanoseconds>(250ms, environment.settings.statement_timeout / 2);
}
// The longest pause of a release whose caller waits: short, so that rivals, each of which locks the row for a
// moment, seldom have it locked at every try within release_row_limit().
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
    decide_round(round);
  }
}

// A lease for one hold of this client. Notices about it go to the client's own lease.
store::lease_record slow_path::explicit_lease(lease_id id, std::chrono::milliseconds ttl) const {
  const auto own = client_.queue.lease();
  return environment_.process.lease(id, own ? own->id() : id, ttl);
}

decision slow_path::decide(const request& item, const store::lock_view& view,
                           const edit_round::companions& others) const {
  const std::chrono::microseconds skew = environment_.skew();
  if (item.acquire) {
    const auto& operation = *item.acquire;
    const acquire_terms wish{operation,      operation.lease->id(),           operation.hold,
                             operation.wait, operation.progress.was_queued(), operation.answer.is_leaving()};
    return item.own_lease ? decide_acquire_with_ttl(view, wish, *item.own_lease, skew)
                          : decide_acquire(view, wish, skew);
  }
  const auto& operation = *item.release;
  switch (operation.purpose) {
    case release_operation::aim::force: {
      const auto only = operation.hold.is_nil() ? std::optional<hold_id>{} : operation.hold;
      return decide_force(view, only, skew, operation.upto, operation.spares_rests);
    }
    case release_operation::aim::sweep: return decide_sweep(view, skew);
    case release_operation::aim::release: break;
  }
  release_spec ends{operation.hold};
  ends.may_be_queued = others.exist && operation.may_be_queued();
  ends.leaving = others.leaving;
  if (operation.only_on_lease) ends.on = operation.lease->id();
  if (operation.lease && !operation.lease->is_renewed()) ends.ended = operation.lease->id();
  if (const auto rest = operation.keep_until - environment_.time.now(); rest > 0ns) {
    ends.rest = explicit_lease(lease_id::belonging_to(operation.hold),
                               std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  decision made;
  if (others.has_left) {
    made.outcome.result = what::released;
  } else {
    made = decide_release(view, ends, skew);
  }
  made.change.durable = made.change.durable || operation.how == store::durability::durable;
  return made;
}

// Whether the request can be decided without any permit but its own. What it frees goes to the waiters that
// fit by in_use, which also counts dead permits; the sweep and the waiters' polls find those. What it
// requests is granted if there is room by in_use. Otherwise the view says whether the holder of a permit in
// its way may be dead, and then the request is decided again with all permits.
bool slow_path::trusts_in_use(const request& item) const {
  if (item.reads_all || environment_.recorded.contains(item.name())) return false;
  if (item.acquire) return item.acquire->joins();
  return item.release->purpose == release_operation::aim::release && model::is_shareable(item.release->kind);
}

edit_item slow_path::asked(const request& item) const {
  if (item.acquire) {
    const auto& operation = *item.acquire;
    const auto weight = operation.everything ? operation.definition.capacity : operation.weight;
    return {.name = item.name(),
            .about = operation.hold,
            .own = operation.lease->id(),
            .acquired = &operation.definition,
            .trusts_in_use = trusts_in_use(item),
            .wanted = weight};
  }
  const auto& operation = *item.release;
  return {.name = item.name(),
          .about = operation.hold,
          .trusts_in_use = trusts_in_use(item),
          .may_be_queued = operation.may_be_queued(),
          .why = operation.purpose == release_operation::aim::force ? intent::force : intent::use};
}

// Made before the edit is sent: if its answer is lost, a withdrawal needs the lease on which the hold may stand. Each try
// has a lease of its own, because an earlier one may have lived and been killed, and no lease comes back (I3).
void slow_path::make_own_lease(request& item) const {
  auto& operation = *item.acquire;
  const auto id = lease_id::random();
  auto record = explicit_lease(id, *operation.ttl);
  auto own = std::make_shared<lease>(id, *operation.ttl, false, record.client);
  // Confirmed for a withdrawal, which is retried for as long as this lease lives.
  own->confirm(environment_.time.now(), 0ns);
  item.own_lease = std::move(record);
  operation.moving_to = std::move(own);
}

void slow_path::decide_round(int round) {
  // Stable: requests for one name are decided in the order in which they came.
  std::stable_sort(items_.begin(), items_.end(),
                   [](const auto& a, const auto& b) { return a.name() < b.name(); });
  for (auto& item : items_) {
    if (item.acquire && item.acquire->ttl) make_own_lease(item);
  }
  edit_round edit{client_, items_.size()};
  for (auto& item : items_) {
    item.sent_at = edit.sent_at();
    item.wakeups = edit.wakeups();
    if (item.acquire) {
      item.acquire->progress.sent();
      item.acquire->check_count = edit.check_count();
    }
    edit.add(asked(item));
  }
  slot_.call([&](store::lock_verbs& session) {
    edit.decide_each(session, [this](std::size_t i, const auto& view, const auto& others) {
      return decide(items_[i], view, others);
    });
  });
  edit.follow_up([this](const auto& work) { slot_.call(work); },
                 [&](std::size_t i, edit_reply& reply) {
                   if (!take(items_[i], reply, round)) items_[i] = {};
                 });
  std::erase_if(items_, [](const request& item) { return item.is_empty(); });
}

// If memory runs out, the request is in doubt.
bool slow_path::take(request& item, edit_reply& reply, int round) {
  if (item.acquire) item.acquire->answered();
  item.made = std::move(reply.made);
  try {
    return finish(item, reply, round);
  } catch (...) {
    if (item.acquire) item.acquire->progress.sent();
    throw;
  }
}

bool slow_path::finish(request& item, const edit_reply& reply, int round) {
  if (const auto& row = item.made.change.row; row && !row->has_queue) client_.contended.remove(item.name());
  const bool is_settled = reply.state == edit_state::settled;
  const bool is_granted = is_settled && item.made.outcome.result == what::granted;
  // An answer that settles the request says that it has no hold, on this lease or that of an earlier try. Any other
  // answer says nothing about an earlier try that is in doubt.
  if (item.own_lease && !is_granted && (is_settled || !item.acquire->progress.is_in_doubt()))
    item.acquire->moving_to.reset();
  switch (reply.state) {
    case edit_state::again: item.reads_all = true; return true;
    case edit_state::missing: on_absent(item.release); return false;
    case edit_state::locked: {
      const bool is_guarded = reply.result == store::edit_result::committed;
      // Somebody may wait for this release, and rivals lock the row only for a moment: retry at once.
      if (!is_guarded && item.release && !item.release->retry.locked_since() && round < probes_at_once)
        return true;
      if (is_guarded && item.release && item.release->answer)
        item.release->answer->complete(release_result::pending);
      on_row_locked(item);
      return false;
    }
    case edit_state::settled: break;
  }
  item.acquire ? finish_acquire(item) : finish_release(item);
  return false;
}

void slow_path::finish_acquire(const request& item) {
  const auto& operation = item.acquire;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::granted:
      operation->progress.granted(item.made.change.row && item.made.change.row->has_queue);
      operation->weight = made.weight;
      if (item.own_lease) take_own_lease(item);
      return client_.complete.granted(operation, made.token);
    case what::queued: return client_.complete.queued(operation, made.takeover_in, item.wakeups);
    case what::busy: client_.complete.busy(operation); return;
    case what::mismatch:
      operation->answer.fail(made_failure([&] { return mismatch(operation->definition, made.stored); }));
      return;
    case what::broken:
      operation->answer.fail(made_failure([&] { return broken(operation->definition.name); }));
      return;
    case what::expired:
    case what::unrecorded_server:
    case what::decide_again:
    case what::overrun:
    case what::in_doubt:
    case what::released:
    case what::absent:
    case what::guarded: break;
  }
  operation->answer.fail(
      std::make_exception_ptr(error(errc::internal, "an acquire was decided as a release")));
}

// The lease was created by the edit that has just been answered, not by an earlier try (I5). The hold stands there even
// if the client's lease is over by now.
void slow_path::take_own_lease(const request& item) const {
  auto own = std::exchange(item.acquire->moving_to, nullptr);
  own->confirm(item.sent_at, environment_.margin(own->ttl()));
  item.acquire->lease = std::move(own);
}

void slow_path::finish_release(const request& item) {
  const auto& operation = item.release;
  if (item.made.outcome.result != what::released) return on_absent(operation);
  if (operation->frees_a_hold() && !item.made.outcome.next.empty()) {
    environment_.count.hand_overs.fetch_add(1, std::memory_order_relaxed);
  }
  // A release that is on disk need not be sent again, and one that leaves the lock resting must not be,
  // because that would end the rest.
  if (item.made.change.durable || operation->keep_until > environment_.time.now()) {
    operation->how = store::durability::durable;
  }
  client_.complete.released(operation, release_result::released);
}

// Absent, after a lost answer, means that the earlier try succeeded (I7), or that the hold was released by force before
// that. The database does not show which. The former is far more likely, so only a caller that needs evidence is told
// `unknown`.
void slow_path::on_absent(const release_ptr& operation) {
  using aim = release_operation::aim;
  const bool done = operation->in_doubt && operation->purpose != aim::sweep;
  // The hold was released by force, or the read shows an older state than the grant.
  const bool is_strange = operation->purpose == aim::release && operation->was_held &&
                          !operation->only_on_lease && !operation->in_doubt &&
                          operation->lease->is_valid(environment_.time.now());
  if (is_strange) client_.reconcile.request();
  // The earlier try may have left waiters to a sweep that was not sent, because its answer was lost.
  if (done && operation->kind != model::lock_kind::mutex)
    client_.queue.submit(sweep_after_commit(operation->name));
  if (done && operation->must_be_certain && operation->answer) {
    operation->answer->complete(release_result::unknown);
  }
  client_.complete.released(operation, done ? release_result::released : release_result::lost);
}

// The row is locked: by a rival for a moment, by a guarded transaction, or by a client that hangs.
void slow_path::on_row_locked(const request& item) {
  const auto now = environment_.time.now();
  auto& retry = item.acquire ? item.acquire->retry : item.release->retry;
  retry.row_locked(item.sent_at);
  if (item.acquire) {
    item.acquire->progress.row_locked(item.acquire->joins());
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
  if (operation->answer && now > *retry.locked_since() + release_row_limit(environment_)) {
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
