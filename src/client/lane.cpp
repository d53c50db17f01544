#include "client/lane.hpp"

#include "client/in_turn.hpp"
#include "client/lease_keeper.hpp"

#include <algorithm>
#include <unordered_map>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;
using what = outcome::what;

// A row locked for longer than this is held by a guarded transaction, or by a client that hangs: the caller
// of a release is not kept waiting for it.
constexpr auto patience_with_a_row = 100ms;
// Each round of edits settles something; more rounds than this mean rivals that never rest. Then a pause
// helps.
constexpr int rounds_at_most = 12;
constexpr int failures_at_most = 20;
// A rival's transaction lasts two round trips; a probe is one.
constexpr int probes_at_once = 6;
constexpr int hand_overs_at_once = 3;
// How long an unfair lock that was freed is left to whoever comes, before those who wait are looked for.
constexpr auto free_for_all = 2ms;

store::acquire_request request_of(const acquire_operation& operation) {
  const auto& definition = operation.definition;
  return {definition.name, definition.kind, definition.capacity, operation.lease->id(),
          operation.hold,  definition.fair, operation.mode,      operation.weight};
}

bool is_temporary(const error& failure) {
  return failure.code() == errc::unreachable || failure.code() == errc::contention ||
         failure.code() == errc::read_only;
}

}  // namespace

lane::lane(lane_desk& desk, duty carried, connector connect)
    : desk_(desk), duty_(carried), shared_(desk.shared), slot_(desk.shared, std::move(connect)) {}

void lane::run() {
  for (batch work = desk_.queue.take(duty_); !work.empty(); work = desk_.queue.take(duty_)) {
    const std::lock_guard own{owner_};
    items_.clear();
    try {
      carry(work);
    } catch (const error& failure) {
      fail(std::current_exception(), failure, work);
    } catch (const std::exception& failure) {
      const error wrapped{errc::internal, failure.what()};
      fail(std::make_exception_ptr(wrapped), wrapped, work);
    }
    desk_.queue.finish(work);
  }
}

template <class Fast>
bool lane::carry_alone(batch work, Fast fast) {
  if (work.empty()) return false;
  try {
    fast(work);
  } catch (const error& failure) {
    fail(std::current_exception(), failure, work);
    work.acquires.clear();
    work.releases.clear();
  }
  for (auto& operation : work.acquires) desk_.queue.submit(std::move(operation));
  for (auto& operation : work.releases) desk_.queue.submit(std::move(operation));
  desk_.queue.finish(work);
  return true;
}

bool lane::carry_alone(const acquire_ptr& operation) {
  const std::unique_lock own{owner_, std::try_to_lock};
  if (!own || !slot_.is_connected()) return false;
  return carry_alone(desk_.queue.alone(operation), [this](batch& work) { ask_for(work); });
}

bool lane::carry_alone(const release_ptr& operation, std::chrono::nanoseconds limit) {
  const std::unique_lock own{owner_, std::try_to_lock};
  if (!own || !slot_.is_connected()) return false;
  limit_ = limit;
  const bool carried = carry_alone(desk_.queue.alone(operation), [&](batch& work) { carry(work); });
  limit_ = std::chrono::nanoseconds::max();
  return carried;
}

void lane::carry(batch& work) {
  run_tasks(work.tasks);
  release_fast(work);
  hand_over_fast(work.releases);
  ask_for(work);
  look_first(work.acquires);
  for (auto& operation : work.releases) {
    if (operation->rung) desk_.bells.answer(operation->name);
    items_.push_back({.acquire = {}, .release = operation});
  }
  for (auto& operation : work.acquires) items_.push_back({.acquire = operation, .release = {}});
  work.releases.clear();
  work.acquires.clear();
  edit_all();
  reconnect_.reset();
}

void lane::run_tasks(std::vector<task_ptr>& tasks) {
  for (auto& task : tasks) {
    if (task->answer.is_settled()) continue;
    bool wanted = false;
    try {
      call([&](store::session& session) { task->work(session); });
      wanted = task->answer.complete(true);
    } catch (...) {
      wanted = task->answer.fail(std::current_exception());
    }
    if (!wanted && task->undo) task->undo();
  }
  tasks.clear();
}

// ---- fast path
// ---------------------------------------------------------------------------------------------------

void lane::release_fast(batch& work) {
  auto& operations = work.releases;
  bool news = false;
  for (const auto how : {store::durability::asynchronous, store::durability::durable}) {
    std::vector<store::release_request> requests;
    for (const auto& operation : operations) {
      const bool crowd = work.crowds.contains(operation->name);
      if (!operation->fast || operation->how != how || crowd) continue;
      requests.push_back({operation->name, operation->lease->id(), operation->hold, operation->mode});
    }
    if (requests.empty()) continue;
    auto released = call([&](store::session& session) { return session.release(requests, how); });
    std::sort(released.begin(), released.end());
    std::erase_if(operations, [&](const release_ptr& operation) {
      if (!std::binary_search(released.begin(), released.end(), operation->hold)) return false;
      answered(operation, release_result::released);
      if (!operation->fair) ring(operation->name);
      news = news || operation->kind == model::lock_kind::election;
      return true;
    });
  }
  if (news) tell_onlookers();
}

// One round trip instead of an edit's two, where the head of the queue lives: somebody waits for it. A rival
// who enters the queue has the row for a moment, so it is asked more than once.
void lane::hand_over_fast(std::vector<release_ptr>& operations) {
  if (operations.size() != 1) return;
  const auto& operation = operations.front();
  if (!std::exchange(operation->hand_on, false)) return;
  const store::release_request request{operation->name, operation->lease->id(), operation->hold};
  const std::chrono::microseconds skew = shared_.settings.skew;
  for (int round = 0; round < hand_overs_at_once; ++round) {
    const auto reply = call([&](store::session& session) { return session.hand_over(request, skew); });
    if (!reply) continue;
    if (const auto mine = desk_.keeper.lease(); mine && reply->client == mine->id()) {
      deliver_to_waiter(desk_, reply->granted, reply->token, reply->has_queue);
    }
    operation->how = store::durability::durable;  // as the grant that came with it
    answered(operation, release_result::released);
    const bool news = operation->kind == model::lock_kind::election;
    operations.clear();
    if (news) tell_onlookers();
    return;
  }
}

// Whether the operation is still wanted and has a lease to go on; a new lease makes it a new request.
bool lane::prepare(const acquire_ptr& operation) {
  if (operation->answer.is_settled()) {
    if (!operation->lease) return false;
    // What was sent on a connection that died may run yet: its backend is ended before anything is taken
    // back. On a lease that is over it gets nothing that lasts.
    if (operation->in_doubt && operation->lease->is_valid(shared_.time.now())) call([](store::session&) {});
    desk_.deliver.withdraw(*operation);
    return false;
  }
  auto lease = desk_.keeper.lease();
  if (!lease) {
    desk_.queue.delay(operation, 1ms);
    return false;
  }
  if (operation->lease != lease) {
    if (operation->lease && operation->definition.kind == model::lock_kind::barrier) {
      // Its place went with the lease, and the others are about to hear of that.
      operation->answer.fail(std::make_exception_ptr(broken(operation->definition.name)));
      return false;
    }
    if (operation->lease) operation->hold = operation->hold.sibling();
    operation->lease = std::move(lease);
    operation->slow = false;
    operation->in_doubt = false;
    operation->tried = false;
  }
  return true;
}

// Where others queue, the queue is asked first; where it says nothing, the lock may be free.
void lane::ask_for(batch& work) {
  std::erase_if(work.acquires, [&](const acquire_ptr& operation) { return !prepare(operation); });
  enqueue_fast(work.acquires, true);
  acquire_fast(work);
  enqueue_fast(work.acquires, false);
}

// Where the fast path was of no use of late. An unfair lock may be free while others queue.
bool lane::queues(const model::lock_definition& definition) const {
  return definition.fair && desk_.crowded.contains(definition.name);
}

void lane::acquire_fast(batch& work) {
  auto& operations = work.acquires;
  std::vector<store::acquire_request> requests;
  for (const auto& operation : operations) {
    const auto& definition = operation->definition;
    if (operation->slow || work.crowds.contains(definition.name)) continue;
    if (operation->mode == model::lock_mode::shared &&
        (!model::is_shareable(definition.kind) || operation->everything || queues(definition))) {
      continue;
    }
    if (std::exchange(operation->tried, true)) continue;
    requests.push_back(request_of(*operation));
    operation->in_flight = true;
  }
  if (requests.empty()) return;
  auto grants = call([&](store::session& session) { return session.acquire(requests); });
  bool news = false;
  std::sort(grants.begin(), grants.end(), [](const auto& a, const auto& b) { return a.hold < b.hold; });
  std::erase_if(operations, [&](const acquire_ptr& operation) {
    if (!std::exchange(operation->in_flight, false)) return false;
    const auto found =
        std::lower_bound(grants.begin(), grants.end(), operation->hold,
                         [](const auto& grant, const auto& hold) { return grant.hold < hold; });
    if (found == grants.end() || found->hold != operation->hold) return false;
    desk_.deliver.granted(operation, found->token);
    news = news || operation->definition.kind == model::lock_kind::election;
    return true;
  });
  if (news) tell_onlookers();
}

// Should the process end before the look, a waiter's poll finds the lock free.
void lane::ring(const std::string& name) {
  if (!desk_.bells.ring(name)) return;
  auto sweep = std::make_shared<release_operation>();
  sweep->name = name;
  sweep->purpose = release_operation::aim::sweep;
  sweep->rung = true;
  desk_.queue.delay(std::move(sweep), free_for_all);
}

void lane::tell_onlookers() {
  const lease_id whom[] = {onlookers()};
  call([&](store::session& session) { session.notify(whom); });
}

// One round trip instead of an edit's two, where the holder lives.
void lane::enqueue_fast(std::vector<acquire_ptr>& operations, bool crowded_only) {
  if (operations.size() != 1) return;
  const auto operation = operations.front();
  const auto& definition = operation->definition;
  if (operation->slow || !operation->wait || operation->mode == model::lock_mode::shared) return;
  if (crowded_only && (operation->tried || !queues(definition))) return;
  const auto request = request_of(*operation);
  const std::chrono::microseconds skew = shared_.settings.skew;
  const auto hints = desk_.keeper.hints_heard();
  operation->in_flight = true;
  const auto takeover_in = call([&](store::session& session) { return session.enqueue(request, skew); });
  operation->in_flight = false;
  if (!takeover_in) return desk_.crowded.remove(definition.name);
  wait_in_room(operation, *takeover_in, hints);
  operations.clear();
}

// An attempt that would not wait only reads where it can: losing costs no row lock and no log.
void lane::look_first(std::vector<acquire_ptr>& operations) {
  std::vector<store::hold_query> queries;
  for (const auto& operation : operations) {
    if (!operation->wait && !operation->slow)
      queries.push_back({operation->definition.name, operation->hold});
  }
  if (queries.empty()) return;
  const auto found = call([&](store::session& session) { return session.find(queries); });
  std::unordered_map<hold_id, const store::hold_status*> by_hold;
  for (const auto& status : found) by_hold.emplace(status.hold, &status);
  std::erase_if(operations, [&](const acquire_ptr& operation) {
    const auto status = by_hold.find(operation->hold);
    if (status == by_hold.end() || operation->slow) return false;
    const auto takeover_in = status->second->takeover_in;
    // A lock of another kind is refused by name, under its row.
    const auto& stored = *status->second;
    if (!is_same_lock(operation->definition, definition_of(operation->definition.name, stored))) return false;
    if (!takeover_in || *takeover_in + shared_.settings.skew <= 0us) return false;
    const bool shared = operation->mode == model::lock_mode::shared;
    if (shared && stored.in_use + operation->weight <= stored.capacity) return false;
    shared_.count.busy.fetch_add(1, std::memory_order_relaxed);
    operation->answer.complete(nullptr);
    return true;
  });
}

// ---- slow path
// ---------------------------------------------------------------------------------------------------

void lane::edit_all() {
  for (int round = 0; !items_.empty(); ++round) {
    if (round == rounds_at_most) {
      for (auto& item : items_) row_was_locked(item);
      items_.clear();
      return;
    }
    chores todo;
    edit_round(todo, round);
    todo.run(shared_, [this](auto work) { return call(work); });
  }
}

decision lane::decide(edit_item& item, const store::lock_view& view) const {
  const std::chrono::microseconds skew = shared_.settings.skew;
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
      return decide_force(view, only, skew);
    }
    case release_operation::aim::sweep: return decide_sweep(view, skew);
    case release_operation::aim::release: break;
  }
  farewell ends{operation.hold};
  if (operation.lease && !operation.lease->is_renewed()) ends.ended = operation.lease->id();
  if (const auto rest = operation.keep_until - shared_.time.now(); rest > 0ns) {
    ends.rest = desk_.explicit_lease(lease_id::belonging_to(operation.hold),
                                     std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  auto made = decide_release(view, ends, skew);
  made.change.durable = made.change.durable || operation.how == store::durability::durable;
  return made;
}

store::lock_change lane::decide(std::span<edit_item> items, const store::lock_view& view) const {
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

void lane::edit_round(chores& todo, int round) {
  // Stable: of one name, who came first is decided first, and has a place to be found in by those after it.
  std::stable_sort(items_.begin(), items_.end(),
                   [](const auto& a, const auto& b) { return a.name() < b.name(); });
  std::vector<store::edit_request> requests;
  std::vector<std::span<edit_item>> groups;
  for (auto first = items_.begin(); first != items_.end();) {
    const auto last =
        std::find_if(first, items_.end(), [&](const auto& item) { return item.name() != first->name(); });
    const std::span<edit_item> group{first, last};
    for (auto& item : group) {
      item.sent_at = shared_.time.now();
      item.hints = desk_.keeper.hints_heard();
      if (item.acquire) item.acquire->in_flight = true;
    }
    const auto about = first->acquire ? first->acquire->hold : first->release->hold;
    requests.push_back({first->name(), group.size() == 1 ? about : hold_id{},
                        [this, group](const store::lock_view& view) { return decide(group, view); }});
    groups.push_back(group);
    first = last;
  }
  const auto results = call([&](store::session& session) { return session.edit(requests); });
  std::vector<edit_item> unsettled;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (auto& item : groups[i]) {
      if (item.acquire) item.acquire->in_flight = false;
      if (settle(item, results[i], todo, round)) unsettled.push_back(std::move(item));
    }
  }
  items_ = std::move(unsettled);
}

bool lane::settle(edit_item& item, store::edit_result result, chores& todo, int round) {
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
  return item.acquire ? settle_acquire(item) : settle_release(item);
}

bool lane::settle_acquire(edit_item& item) {
  const auto& operation = item.acquire;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::granted:
      operation->contended = item.made.change.row && item.made.change.row->has_queue;
      operation->weight = made.weight;
      if (operation->ttl && operation->lease->is_valid(shared_.time.now())) {
        auto id = lease_id::random();
        item.moving_to_record = desk_.explicit_lease(id, *operation->ttl);
        item.moving_to = std::make_shared<lease>(id, *operation->ttl, false);
        operation->slow = true;
        return true;
      }
      desk_.deliver.granted(operation, made.token);
      return false;
    case what::queued: wait_in_room(operation, made.takeover_in, item.hints); return false;
    case what::busy:
      shared_.count.busy.fetch_add(1, std::memory_order_relaxed);
      operation->answer.complete(nullptr);
      return false;
    case what::expired:
    case what::foreign:
    case what::again: return true;
    case what::mismatch:
      operation->answer.fail(std::make_exception_ptr(mismatch(operation->definition, made.stored)));
      return false;
    case what::broken:
      operation->answer.fail(std::make_exception_ptr(broken(operation->definition.name)));
      return false;
    case what::overrun:
    case what::released:
    case what::absent:
    case what::guarded: break;
  }
  operation->answer.fail(
      std::make_exception_ptr(error(errc::internal, "an acquire was decided as a release")));
  return false;
}

// hints: heard before the database put it into the queue.
void lane::wait_in_room(const acquire_ptr& operation, std::chrono::microseconds takeover_in,
                        std::uint64_t hints) {
  if (!operation->slow) shared_.count.waits.fetch_add(1, std::memory_order_relaxed);
  operation->slow = true;
  operation->arrived = true;
  desk_.crowded.add(operation->definition.name);
  const auto takeover_at = shared_.time.now() + takeover_in + shared_.settings.skew;
  if (!desk_.room.enter(operation, takeover_at)) {
    // The client closes: the queue, which takes no more acquires, says so to the caller.
    desk_.deliver.withdraw(*operation);
    desk_.queue.submit(operation);
    return;
  }
  // The lock may have been handed to it before it was here to be found.
  const bool missed = desk_.keeper.hints_heard() != hints;
  const auto now = shared_.time.now();
  desk_.keeper.look_at(missed ? now : std::min(takeover_at, now + shared_.settings.poll_interval));
  // Whoever gave up before it was in the room did not find it there.
  if (operation->answer.is_settled()) {
    if (const auto left = desk_.room.take(*operation)) desk_.deliver.withdraw(*left);
  } else if (operation->leaving.load()) {
    if (const auto left = desk_.room.take(*operation)) desk_.queue.submit(left);
  }
}

// I7: asked again after a lost answer, decide_move says granted as well.
bool lane::settle_move(edit_item& item) {
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

bool lane::settle_release(edit_item& item) {
  const auto& operation = item.release;
  const auto& made = item.made.outcome;
  switch (made.result) {
    case what::expired:
    case what::foreign:
    case what::again: return true;
    case what::guarded:
      if (operation->answer) operation->answer->complete(release_result::pending);
      row_was_locked(item);
      return false;
    case what::released:
      // Then it is on disk; and what rests must not be sent again, which would end the rest.
      if (item.made.change.durable || operation->keep_until > shared_.time.now()) {
        operation->how = store::durability::durable;
      }
      answered(operation, release_result::released);
      return false;
    default: was_absent(operation); return false;
  }
}

// ---- answers
// -----------------------------------------------------------------------------------------------------

void lane::answered(const release_ptr& operation, release_result result) {
  if (result == release_result::released && operation->purpose == release_operation::aim::release) {
    shared_.count.released.fetch_add(1, std::memory_order_relaxed);
    if (operation->how == store::durability::asynchronous &&
        desk_.releases.add({operation->name, operation->hold, operation->lease, shared_.time.now()})) {
      desk_.keeper.renew_soon();
    }
  }
  if (operation->answer) operation->answer->complete(result);
}

// Absent after an answer was lost means that the first try did it: the hold stood when that was sent (I7).
void lane::was_absent(const release_ptr& operation) {
  const bool done = operation->in_doubt && operation->purpose == release_operation::aim::release;
  answered(operation, done ? release_result::released : release_result::lost);
}

// ---- failures
// ----------------------------------------------------------------------------------------------------

// Somebody has the row: a rival for a moment, a guarded transaction, or a client that hangs.
void lane::row_was_locked(edit_item& item) {
  const auto now = shared_.time.now();
  auto& retry = item.acquire ? item.acquire->retry : item.release->retry;
  if (retry.failures++ == 0) retry.since = now;
  if (item.acquire) {
    // It may be tried as before; but where it may have got something, the fast path cannot tell.
    if (item.acquire->joins() && !item.moving_to) {
      item.acquire->tried = false;
    } else {
      item.acquire->slow = true;
    }
    if (!item.acquire->wait && now > retry.since + shared_.settings.statement_timeout) {
      shared_.count.busy.fetch_add(1, std::memory_order_relaxed);
      if (item.acquire->answer.complete(nullptr)) return desk_.deliver.withdraw(*item.acquire);
    }
    desk_.queue.delay(item.acquire, retry.pause.next());
    return;
  }
  if (item.release->answer && now > retry.since + patience_with_a_row) {
    item.release->answer->complete(release_result::pending);
  }
  item.release->fast = false;
  desk_.queue.delay(item.release, retry.pause.next());
}

// Everything of the batch that has no answer yet: again, or the failure. Nothing is guessed: what may have
// happened goes the slow way next time, which finds out by the hold's id (I7).
void lane::fail(const std::exception_ptr& cause, const error& failure, batch& work) {
  const bool temporary = is_temporary(failure);
  const bool connected = slot_.is_connected();
  const auto pause = temporary && !connected ? reconnect_.next() : row_probe().next();
  shared_.log(temporary ? log_level::info : log_level::error, "{}: {}", to_string(failure.code()),
              failure.what());
  for (auto& item : items_) {
    if (item.acquire) work.acquires.push_back(std::move(item.acquire));
    if (item.release) work.releases.push_back(std::move(item.release));
  }
  items_.clear();
  for (auto& operation : work.acquires) {
    if (!operation) continue;
    if (std::exchange(operation->in_flight, false)) operation->slow = operation->in_doubt = true;
    ++operation->retry.failures;
    // One failure may be an old connection that broke in the pool; two are a database that cannot be reached.
    const int tries = connected || operation->slow ? failures_at_most : 2;
    const bool give_up = !temporary || (!operation->wait && operation->retry.failures >= tries);
    // Then it comes up again to be taken back, if it may have got anything.
    const bool over = give_up && operation->answer.fail(cause);
    if (!over || (operation->slow && operation->lease)) {
      desk_.queue.delay(operation, temporary ? pause : operation->retry.pause.next());
    }
  }
  for (auto& operation : work.releases) {
    if (!operation) continue;
    operation->in_doubt = operation->in_doubt || failure.outcome_unknown();
    const bool give_up = !temporary && ++operation->retry.failures > failures_at_most;
    if (!give_up) {
      desk_.queue.delay(operation, pause);
      continue;
    }
    shared_.log(log_level::error, "the release of \"{}\" is given up; its lease's ttl bounds it",
                operation->name);
    if (operation->answer) operation->answer->complete(release_result::unknown);
  }
  if (!connected) desk_.queue.fail_tasks(cause);
}

}  // namespace rowlock::client_layer
