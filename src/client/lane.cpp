#include "client/lane.hpp"

#include "client/reconciliation.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// After that many failures in a row whoever would not wait is told of the last.
constexpr int failures_at_most = 20;
// A release goes on for as long as its lease lives; its caller is not kept waiting for what is refused.
constexpr int refusals_until_told = 5;
// As many requests that fail alone show that it is not theirs: the database refuses all of them.
constexpr int refused_alone_at_most = 3;

// Whether a caller waits for each request that fails, and nothing else does: the log need not repeat it.
bool is_told_to_callers(const batch& work) {
  const auto is_missing = [](const auto& operation) { return !operation; };
  return std::ranges::all_of(work.releases, is_missing) && !std::ranges::all_of(work.acquires, is_missing) &&
         std::ranges::all_of(work.acquires,
                             [](const auto& one) { return !one || !one->answer.is_settled(); });
}

bool is_temporary(const error& failure) {
  return failure.code() == errc::unreachable || failure.code() == errc::contention ||
         failure.code() == errc::read_only;
}

}  // namespace

struct lane::failed {
  bool temporary = false;
  bool denied = false;                    // for want of a right, so nothing of what was sent has happened
  bool unknown = false;                   // what was sent may have happened
  bool connected = false;                 // still
  bool take_apart = false;                // one of the batch may have failed the others
  std::chrono::nanoseconds reconnect{0};  // not before, where the connection is gone
};

lane::lane(lane_desk& desk, duty carried, connector connect)
    : desk_(desk),
      duty_(carried),
      shared_(desk.shared),
      own_slot_(std::make_unique<session_slot>(desk.shared, std::move(connect))),
      slot_(*own_slot_),
      fast_(desk, slot_),
      slow_(desk, slot_) {}

lane::lane(lane_desk& desk, session_slot& borrowed)
    : desk_(desk),
      duty_(duty::stand_in),
      shared_(desk.shared),
      slot_(borrowed),
      fast_(desk, slot_),
      slow_(desk, slot_) {}

void lane::run() {
  connect();
  for (;;) {
    if (!find_connection()) break;
    batch work = desk_.queue.take(duty_, [this] { return slot_.is_connected(); });
    if (work.must_connect) continue;
    if (work.empty()) break;
    if (is_replaced()) {
      desk_.queue.put_back(std::move(work));
      continue;
    }
    const std::lock_guard own{owner_};
    attempt(work, [this](batch& all) { carry(all); });
    desk_.queue.finish(work);
  }
  const std::lock_guard own{owner_};
  slot_.close();
  note_connection();
}

// Whether a lane that is connected carries what is for this one.
bool lane::is_replaced() const {
  return !slot_.is_connected() && desk_.queue.has_connected_lane();
}

// Where there is none to be had, and another lane has one, this lane takes no work. False: the queue was
// stopped, and the other lane carries what is left.
bool lane::find_connection() {
  while (is_replaced()) {
    if (connect()) break;
    if (!desk_.queue.rest(reconnect_.next())) return false;
  }
  return true;
}

bool lane::connect() {
  const std::lock_guard own{owner_};
  try {
    slot_.open();
    complained_ = false;
  } catch (const std::exception& failure) {
    // A client that is being closed has broken the attempt off itself.
    if (!desk_.queue.is_refusing() && !std::exchange(complained_, true)) {
      shared_.log(log_level::warning, "a connection is missing, and the others do its work: {}",
                  failure.what());
    }
  }
  note_connection();
  return slot_.is_connected();
}

void lane::note_connection() {
  const bool connected = slot_.is_connected();
  if (std::exchange(noted_connection_, connected) != connected) desk_.queue.count_lane(duty_, connected);
}

template <class Body>
bool lane::attempt(batch& work, Body body) {
  try {
    body(work);
    note_connection();
    return true;
  } catch (const error& failure) {
    fail(std::current_exception(), failure, work);
  } catch (const std::exception& failure) {
    const error wrapped{errc::internal, failure.what()};
    fail(std::make_exception_ptr(wrapped), wrapped, work);
  }
  return false;
}

template <class Fast>
bool lane::carry_alone(batch work, Fast fast) {
  if (work.empty()) return false;
  if (!attempt(work, fast)) {
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
  return carry_alone(desk_.queue.alone(operation), [this](batch& work) { fast_.ask(work); });
}

bool lane::carry_alone(const release_ptr& operation, instant until) {
  const std::unique_lock own{owner_, std::try_to_lock};
  if (!own || !slot_.is_connected()) return false;
  slot_.limit_answers(until);
  const bool carried = carry_alone(desk_.queue.alone(operation), [&](batch& work) { carry(work); });
  slot_.limit_answers(instant::max());
  return carried;
}

void lane::carry_stranded(instant until) {
  batch work = desk_.queue.take_stranded();
  if (work.empty()) return;
  slot_.limit_begins(until);
  attempt(work, [this](batch& all) { carry(all); });
  slot_.limit_begins(instant::max());
  desk_.queue.finish(work);
}

void lane::carry(batch& work) {
  const auto calls = slot_.calls();
  run_tasks(work.tasks);
  fast_.release(work);
  fast_.hand_over(work.releases);
  fast_.ask(work);
  fast_.look_first(work.acquires);
  for (auto& operation : work.releases) {
    if (operation->rung) desk_.bells.answer(operation->name);
    // What was asked for a caller's sake is not done behind his back.
    const bool is_own = operation->purpose == release_operation::aim::release;
    if (!is_own && operation->answer && operation->answer->is_given_up()) continue;
    slow_.add(std::move(operation));
  }
  for (auto& operation : work.acquires) slow_.add(std::move(operation));
  work.releases.clear();
  work.acquires.clear();
  slow_.settle_all();
  if (slot_.calls() == calls) return;  // it has asked nothing, so nothing has succeeded
  reconnect_.reset();
  refused_alone_ = 0;
}

// What is begun without a connection makes one, and fails with it. Those behind it would only wait for the
// same again.
void lane::run_tasks(std::vector<task_ptr>& tasks) {
  std::exception_ptr unreachable;
  for (auto& task : tasks) {
    if (task->answer.is_settled()) continue;
    if (unreachable) {
      task->answer.fail(unreachable);
      continue;
    }
    const bool connected = slot_.is_connected();
    bool wanted = false;
    bool unknown = false;
    try {
      slot_.call([&](store::session& session) { task->work(session); });
      wanted = task->answer.complete(true);
    } catch (const error& failure) {
      unknown = failure.outcome_unknown();
      if (!connected && !slot_.is_connected()) unreachable = std::current_exception();
      wanted = task->answer.fail(std::current_exception());
    } catch (...) {
      wanted = task->answer.fail(std::current_exception());
    }
    if (!wanted && task->undo) task->undo();
    // What it left, its caller may not know.
    if (!wanted || unknown) desk_.reconcile.request();
  }
  tasks.clear();
}

// Everything of the batch that has no answer yet: again, or the failure. Nothing is guessed: what may have
// happened goes the slow way next time, which finds out by the hold's id (I7).
void lane::fail(const std::exception_ptr& cause, const error& failure, batch& work) {
  const bool sent_alone = work.alone;
  note_connection();
  slow_.take_back(work);
  failed how{.temporary = is_temporary(failure),
             .denied = failure.code() == errc::privilege && !failure.outcome_unknown(),
             .unknown = failure.outcome_unknown(),
             .connected = slot_.is_connected()};
  if (!how.connected) how.reconnect = reconnect_.next();
  if (!how.temporary && sent_alone) ++refused_alone_;
  const bool several =
      std::count_if(work.acquires.begin(), work.acquires.end(), [](auto& one) { return !!one; }) +
          std::count_if(work.releases.begin(), work.releases.end(), [](auto& one) { return !!one; }) >
      1;
  how.take_apart = several && !how.temporary && refused_alone_ < refused_alone_at_most;
  const bool comes_again = how.temporary || how.take_apart;
  log(failure, comes_again || is_told_to_callers(work) ? log_level::info : log_level::error);
  for (auto& operation : work.acquires) {
    if (operation) fail(operation, cause, how);
  }
  for (auto& operation : work.releases) {
    if (operation) fail(operation, cause, how);
  }
  if (!how.connected && !is_replaced()) desk_.queue.fail_tasks(cause);
}

void lane::fail(const acquire_ptr& operation, const std::exception_ptr& cause, const failed& how) {
  auto& retry = operation->retry;
  // Another refusal may come behind the commit.
  if (std::exchange(operation->in_flight, false) && !how.denied) {
    operation->slow = operation->in_doubt = true;
  }
  retry.locked_since.reset();
  retry.looked = false;
  retry.alone = how.take_apart;
  if (how.take_apart) return desk_.queue.delay(operation, how.reconnect);
  ++retry.failures;
  operation->excuse(cause);
  // One failure may be an old connection that broke in the pool; two are a database that cannot be reached.
  const int tries = how.connected || operation->slow ? failures_at_most : 2;
  const bool give_up = !how.temporary || (!operation->wait && retry.failures >= tries);
  // Then it comes up again to be taken back, if it may have got anything.
  const bool over = give_up && operation->answer.fail(cause);
  if (over && !(operation->slow && operation->lease)) return;
  desk_.queue.delay(operation, std::max<std::chrono::nanoseconds>(how.reconnect, retry.again.next()));
}

// A release, or the withdrawal of a request, is due as long as its lease lives: nothing else would end it.
void lane::fail(const release_ptr& operation, const std::exception_ptr& cause, const failed& how) {
  auto& retry = operation->retry;
  operation->in_doubt = operation->in_doubt || how.unknown;
  retry.locked_since.reset();
  retry.looked = false;
  retry.alone = how.take_apart;
  if (how.take_apart) return desk_.queue.delay(operation, how.reconnect);
  ++retry.failures;
  const bool releases = operation->purpose == release_operation::aim::release;
  if (!how.temporary && !releases) {
    if (operation->answer) operation->answer->fail(cause);
    return;
  }
  if (!how.temporary && retry.failures >= refusals_until_told && operation->answer) {
    operation->answer->complete(release_result::unknown);
  }
  const bool lease_is_over = !operation->lease || !operation->lease->is_valid(shared_.time.now());
  // The lease ends with close(), and with it what this would have taken back.
  const bool lease_ends_now = how.denied && desk_.queue.is_refusing();
  if (releases && !how.temporary && (lease_is_over || lease_ends_now) &&
      retry.failures >= refusals_until_told) {
    // Nobody renews it: its ttl ends what it has.
    if (operation->is_orphan) desk_.reconcile.request();
    if (operation->answer) operation->answer->complete(release_result::unknown);
    return;
  }
  desk_.queue.delay(operation, std::max<std::chrono::nanoseconds>(how.reconnect, retry.again.next()));
}

void lane::log(const error& failure, log_level level) {
  const auto left_out = failures_.due(failure.what(), shared_.time.now());
  if (!left_out) return;
  if (*left_out == 0) return shared_.log(level, "{}: {}", to_string(failure.code()), failure.what());
  shared_.log(level, "{}: {} (and {} times before)", to_string(failure.code()), failure.what(), *left_out);
}

}  // namespace rowlock::client_layer
