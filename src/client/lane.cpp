#include "client/lane.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

constexpr int failures_at_most = 20;

bool is_temporary(const error& failure) {
  return failure.code() == errc::unreachable || failure.code() == errc::contention ||
         failure.code() == errc::read_only;
}

}  // namespace

lane::lane(lane_desk& desk, duty carried, connector connect)
    : desk_(desk),
      duty_(carried),
      shared_(desk.shared),
      slot_(desk.shared, std::move(connect)),
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
    if (!std::exchange(complained_, true)) {
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

void lane::carry(batch& work) {
  run_tasks(work.tasks);
  fast_.release(work);
  fast_.hand_over(work.releases);
  fast_.ask(work);
  fast_.look_first(work.acquires);
  for (auto& operation : work.releases) {
    if (operation->rung) desk_.bells.answer(operation->name);
    slow_.add(std::move(operation));
  }
  for (auto& operation : work.acquires) slow_.add(std::move(operation));
  work.releases.clear();
  work.acquires.clear();
  slow_.settle_all();
  reconnect_.reset();
}

void lane::run_tasks(std::vector<task_ptr>& tasks) {
  for (auto& task : tasks) {
    if (task->answer.is_settled()) continue;
    bool wanted = false;
    try {
      slot_.call([&](store::session& session) { task->work(session); });
      wanted = task->answer.complete(true);
    } catch (...) {
      wanted = task->answer.fail(std::current_exception());
    }
    if (!wanted && task->undo) task->undo();
  }
  tasks.clear();
}

// Everything of the batch that has no answer yet: again, or the failure. Nothing is guessed: what may have
// happened goes the slow way next time, which finds out by the hold's id (I7).
void lane::fail(const std::exception_ptr& cause, const error& failure, batch& work) {
  const bool temporary = is_temporary(failure);
  const bool connected = slot_.is_connected();
  note_connection();
  const auto pause = temporary && !connected ? reconnect_.next() : row_probe().next();
  shared_.log(temporary ? log_level::info : log_level::error, "{}: {}", to_string(failure.code()),
              failure.what());
  slow_.take_back(work);
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
  if (!connected && !is_replaced()) desk_.queue.fail_tasks(cause);
}

}  // namespace rowlock::client_layer
