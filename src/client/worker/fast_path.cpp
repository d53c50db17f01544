#include "client/worker/fast_path.hpp"

#include "client/base/change_signal.hpp"
#include "client/core/reconciliation.hpp"
#include "client/worker/worker_services.hpp"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

constexpr int hand_overs_at_once = 3;
// How long a freed unfair lock is left to newcomers before a sweep serves its waiters.
constexpr auto barging_time = 2ms;

// Whether requests that come together nearly always fit together. Those for a semaphore often do not, and then the fast
// statement is a round trip in vain before the edit.
bool fits_many(model::lock_kind kind) {
  return kind == model::lock_kind::shared_mutex;
}

store::acquire_item request_of(const acquire_operation& operation) {
  const auto& definition = operation.definition;
  return {definition.name, definition.kind, definition.capacity, operation.lease->id(),
          operation.hold,  definition.fair, operation.mode,      operation.weight};
}

// Drops the operations for which answer() returns true. If answer() throws, those that were answered before
// are null, and the others stay; statement_worker::fail() removes the nulls.
template <class Operation, class Answer>
void drop_answered(std::vector<Operation>& operations, Answer answer) {
  for (auto& one : operations) {
    if (one && answer(one)) one.reset();
  }
  std::erase(operations, nullptr);
}

}  // namespace

void fast_path::release(batch& work) {
  auto& operations = work.releases;
  bool leader_changed = false;
  for (const auto how : {store::durability::asynchronous, store::durability::durable}) {
    std::vector<store::release_item> requests;
    for (const auto& operation : operations) {
      const bool left_to_edit = work.joined.contains(operation->name) && !fits_many(operation->kind);
      if (!operation->fast || operation->how != how || left_to_edit || is_recorded(operation->name)) continue;
      requests.push_back({operation->name, operation->lease->id(), operation->hold, operation->mode,
                          !operation->lease->is_renewed()});
    }
    if (requests.empty()) continue;
    auto released = slot_.call([&](store::lock_verbs& session) { return session.release(requests, how); });
    std::sort(released.begin(), released.end());
    drop_answered(operations, [&](const release_ptr& operation) {
      if (!std::binary_search(released.begin(), released.end(), operation->hold)) return false;
      client_.complete.released(operation, release_result::released);
      if (!operation->fair) schedule_sweep(operation->name);
      leader_changed = leader_changed || operation->kind == model::lock_kind::election;
      return true;
    });
  }
  if (leader_changed) wake_office_watchers();
}

// Takes one round trip instead of an edit's two, if the first waiter is alive. A rival that enters the queue
// locks the row for a moment, so the hand-over is tried more than once.
void fast_path::hand_over(std::vector<release_ptr>& operations) {
  if (operations.size() != 1) return;
  const auto& operation = operations.front();
  if (!std::exchange(operation->try_hand_over, false) || is_recorded(operation->name)) return;
  const store::release_item request{operation->name, operation->lease->id(), operation->hold};
  const std::chrono::microseconds skew = environment_.skew();
  for (int round = 0; round < hand_overs_at_once; ++round) {
    const auto check_count = client_.complete.check_count();
    const auto reply =
        slot_.call([&](store::lock_verbs& session) { return session.hand_over(request, skew); });
    if (!reply) continue;
    if (const auto mine = client_.queue.lease(); mine && reply->client == mine->id()) {
      client_.complete.granted_to_waiter(reply->granted, reply->token, reply->has_queue, check_count);
    }
    environment_.count.hand_overs.fetch_add(1, std::memory_order_relaxed);
    operation->how = store::durability::durable;  // like the grant in the same commit
    client_.complete.released(operation, release_result::released);
    const bool leader_changed = operation->kind == model::lock_kind::election;
    operations.clear();
    if (leader_changed) wake_office_watchers();
    return;
  }
}

// Returns true if the operation is still wanted and has the batch's lease. If it was sent on an earlier lease, it has
// then begun anew under a new hold id. If this returns false, it has delayed, withdrawn or failed the operation, or
// there was nothing to withdraw.
bool fast_path::prepare(const acquire_ptr& operation, const std::shared_ptr<client_layer::lease>& lease) {
  // A statement of a broken connection may still run. Until it has ended, the request is neither repeated nor
  // withdrawn. If the request's lease is over, this need not wait: what the statement obtains on that lease
  // does not last. What it obtains on an explicit-ttl lease does.
  const bool may_run = operation->progress.is_in_doubt() &&
                       (operation->moving_to || operation->lease->is_valid(environment_.time.now()));
  if (may_run && !slot_.end_ghosts()) {
    client_.queue.delay(operation, operation->retry.row.next());
    return false;
  }
  if (operation->answer.is_complete()) {
    if (!operation->lease) return false;
    // A ghost whose end was not seen may still obtain the lock until the server's timeouts have passed.
    if (operation->progress.is_in_doubt())
      client_.reconcile.request(3 * environment_.settings.statement_timeout);
    client_.queue.withdraw(*operation);
    return false;
  }
  if (!lease || !lease->is_valid(environment_.time.now())) {
    client_.queue.delay(operation, 1ms);
    return false;
  }
  if (operation->lease != lease) {
    if (operation->lease && operation->definition.kind == model::lock_kind::barrier) {
      // Its place in the queue was lost with the lease, and the other members are about to learn of that.
      operation->answer.fail(made_failure([&] { return broken(operation->definition.name); }));
      return false;
    }
    if (operation->lease) client_.complete.begin_anew(*operation);
    operation->lease = lease;
  }
  client_.queue.mark(*operation);  // no request is sent before its id is marked as in use
  return true;
}

// If the lock was contended recently, the request tries the queue first. If it cannot enter, the lock may be
// free.
void fast_path::acquire_or_enqueue(batch& work) {
  drop_answered(work.acquires, [&](const acquire_ptr& operation) { return !prepare(operation, work.lease); });
  enqueue(work.acquires, true);
  acquire(work);
  enqueue(work.acquires, false);
}

// Whether to enter the queue first, because a fast acquire would probably fail. An unfair lock may be free
// while others queue.
bool fast_path::queues(const model::lock_definition& definition) const {
  return definition.fair && client_.contended.contains(definition.name);
}

// An explicit ttl needs an edit, which grants the lock on a lease of its own.
bool fast_path::may_be_fast(const acquire_operation& operation) const {
  const auto& definition = operation.definition;
  if (operation.ttl) return false;
  if (!operation.progress.may_try_fast() || is_recorded(definition.name)) return false;
  if (operation.mode == model::lock_mode::exclusive) return true;
  return model::is_shareable(definition.kind) && !operation.everything && !queues(definition);
}

// The names whose several requests only an edit may decide: one of them is no reader's, or was sent before. Nothing
// for such a name is sent here, so that no request passes another.
std::unordered_set<std::string> fast_path::joined_for_edit(const batch& work) const {
  std::unordered_set<std::string> names;
  if (work.joined.empty()) return names;
  for (const auto& operation : work.acquires) {
    const auto& definition = operation->definition;
    if (!work.joined.contains(definition.name)) continue;
    const bool reads = operation->mode == model::lock_mode::shared && fits_many(definition.kind);
    if (!reads || !may_be_fast(*operation)) names.insert(definition.name);
  }
  return names;
}

void fast_path::acquire(batch& work) {
  auto& operations = work.acquires;
  std::vector<store::acquire_item> requests;
  const auto check_count = client_.complete.check_count();
  const auto for_edit = joined_for_edit(work);
  for (const auto& operation : operations) {
    if (for_edit.contains(operation->definition.name) || !may_be_fast(*operation)) continue;
    requests.push_back(request_of(*operation));
    operation->progress.fast_sent();
    operation->check_count = check_count;
  }
  if (requests.empty()) return;
  auto grants = slot_.call([&](store::lock_verbs& session) { return session.acquire(requests); });
  bool leader_changed = false;
  std::sort(grants.begin(), grants.end(), [](const auto& a, const auto& b) { return a.hold < b.hold; });
  drop_answered(operations, [&](const acquire_ptr& operation) {
    if (!operation->answered()) return false;
    const auto found =
        std::lower_bound(grants.begin(), grants.end(), operation->hold,
                         [](const auto& grant, const auto& hold) { return grant.hold < hold; });
    if (found == grants.end() || found->hold != operation->hold) return false;
    client_.complete.granted(operation, found->token);
    leader_changed = leader_changed || operation->definition.kind == model::lock_kind::election;
    return true;
  });
  if (leader_changed) wake_office_watchers();
}

// If the process ends before the sweep, or there is no memory for it, a waiter's poll finds the lock free.
void fast_path::schedule_sweep(const std::string& name) noexcept {
  try {
    client_.queue.delay(sweep_after_commit(name), barging_time);
  } catch (const std::bad_alloc&) {
    // The release has been answered, so its caller must not be told of this.
  }
}

void fast_path::wake_office_watchers() {
  const store::wakeup whom[] = {{office_watchers()}};
  slot_.call([&](store::wakeup_verbs& session) { session.send_wakeups(whom); });
}

// Takes one round trip instead of an edit's two, if the holder is alive.
void fast_path::enqueue(std::vector<acquire_ptr>& operations, bool contended_only) {
  if (operations.size() != 1) return;
  const auto operation = operations.front();
  const auto& definition = operation->definition;
  if (operation->progress.must_edit() || !operation->wait || operation->mode == model::lock_mode::shared)
    return;
  if (is_recorded(definition.name)) return;
  const bool seems_held = operation->progress.may_try_fast() && queues(definition);
  // Of an explicit ttl no fast acquire has found the lock held.
  if ((contended_only || operation->ttl) && !seems_held) return;
  const auto request = request_of(*operation);
  const std::chrono::microseconds skew = environment_.skew();
  const auto wakeups = client_.agenda.wakeups();
  operation->progress.sent();
  const auto takeover_in =
      slot_.call([&](store::lock_verbs& session) { return session.enqueue(request, skew); });
  operation->answered();
  if (!takeover_in) return client_.contended.remove(definition.name);
  client_.complete.queued(operation, *takeover_in, wakeups);
  operations.clear();
}

// A request that does not wait reads first, so that a busy lock costs neither a row lock nor a write to the
// server's log. A request whose row has been locked for long also reads, to learn whether a holder has the
// lock.
void fast_path::look_first(std::vector<acquire_ptr>& operations) {
  std::vector<store::hold_query> queries;
  const auto now = environment_.time.now();
  const auto looks = [now](const acquire_operation& operation) {
    const bool locked_out = operation.retry.is_locked_out(now) && !operation.progress.is_in_doubt() &&
                            !operation.progress.was_queued();
    return operation.wait ? locked_out && !operation.retry.has_looked()
                          : locked_out || !operation.progress.must_edit();
  };
  for (const auto& operation : operations) {
    if (looks(*operation)) queries.push_back({operation->definition.name, operation->hold});
  }
  if (queries.empty()) return;
  const auto found = slot_.call([&](store::lock_verbs& session) { return session.find(queries); });
  std::unordered_map<hold_id, const store::hold_status*> by_hold;
  for (const auto& status : found) by_hold.emplace(status.hold, &status);
  drop_answered(operations, [&](const acquire_ptr& operation) {
    const auto found_it = by_hold.find(operation->hold);
    if (found_it == by_hold.end() || !looks(*operation)) return false;
    const auto& stored = *found_it->second;
    // An edit refuses a request for another kind of lock.
    if (!is_same_lock(operation->definition, definition_of(operation->definition.name, stored))) return false;
    const bool shared = operation->mode == model::lock_mode::shared;
    const bool has_room = shared && stored.in_use + operation->weight <= stored.capacity;
    const bool is_busy = stored.takeover_in &&
                         store::takeover_after(*stored.takeover_in, environment_.skew()) > 0us && !has_room;
    if (!operation->wait) {
      if (is_busy) client_.complete.busy(operation);
      return is_busy;
    }
    operation->retry.looked();
    if (!is_busy) {
      operation->note_failure(
          std::make_exception_ptr(row_is_locked(operation->definition.name, retry_state::row_lock_limit)));
    }
    return false;
  });
}

}  // namespace rowlock::client_layer
