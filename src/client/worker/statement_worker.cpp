#include "client/worker/statement_worker.hpp"

#include "client/core/reconciliation.hpp"
#include "client/worker/edit_task.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <thread>
#include <utility>

namespace rowlock::client_layer {

namespace {

// After this many consecutive failures a caller that does not wait is thrown the last one.
constexpr int failures_at_most = 20;
// A release is retried for as long as its lease lives, but its caller waits for at most this many refusals.
constexpr int refusals_until_told = 5;

// Each request that fails has a caller that sees the failure, so the log need not repeat it.
bool callers_see_failure(const batch& work) {
  return work.releases.empty() && !work.acquires.empty() &&
         std::ranges::all_of(work.acquires, [](const auto& one) { return !one->answer.is_complete(); });
}

}  // namespace

struct statement_worker::failed {
  bool temporary = false;
  bool denied = false;                    // a right is missing, so nothing that was sent has been executed
  bool unknown = false;                   // what was sent may have been executed
  bool connected = false;                 // the connection still exists
  bool take_apart = false;                // one request of the batch may have failed the others
  std::chrono::nanoseconds reconnect{0};  // the pause, if the connection is gone
};

statement_worker::statement_worker(worker_services& client, worker_role role, connector connect)
    : client_(client),
      role_(role),
      environment_(client.environment),
      own_slot_(std::make_unique<session_slot>(client.environment, std::move(connect))),
      slot_(*own_slot_),
      fast_(client, slot_),
      slow_(client, slot_) {}

statement_worker::statement_worker(worker_services& client, session_slot& borrowed)
    : client_(client),
      role_(worker_role::fallback),
      environment_(client.environment),
      slot_(borrowed),
      fast_(client, slot_),
      slow_(client, slot_) {}

void statement_worker::run() noexcept {
  auto pause = reconnect_pause();
  for (bool goes_on = true, first = true; goes_on;) {
    try {
      if (std::exchange(first, false)) connect();
      goes_on = go_on();
      pause.reset();
    } catch (const std::exception& failure) {
      environment_.log(log_level::error, "a worker goes on after a pause: {}", failure.what());
      // Once the queue is stopped, that pause ends at once.
      if (!client_.queue.sleep(pause.next())) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  const model::annotated_lock own{owner_};
  slot_.close();
  count_connection();
}

bool statement_worker::go_on() {
  if (!find_connection()) return false;
  batch work = client_.queue.take(role_, [this] { return slot_.is_connected(); });
  if (work.must_connect) return true;
  if (work.empty()) return false;
  if (is_replaced()) {
    client_.queue.put_back(std::move(work));
    return true;
  }
  const model::annotated_lock own{owner_};
  attempt(work, [this](batch& all) ROWLOCK_REQUIRES(owner_) { carry(all); });
  client_.queue.finish(work);
  return true;
}

// Whether another worker is connected and does this one's work.
bool statement_worker::is_replaced() const {
  return !slot_.is_connected() && client_.queue.has_connected_worker();
}

// While this worker has no connection and another one has, it takes no work. False: the queue was stopped,
// and the other worker sends what is left.
bool statement_worker::find_connection() {
  while (is_replaced()) {
    if (connect()) break;
    if (!client_.queue.sleep(pause_without_connection())) return false;
  }
  return true;
}

bool statement_worker::connect() {
  const model::annotated_lock own{owner_};
  try {
    slot_.open();
    complained_ = false;
  } catch (const std::exception& failure) {
    // When a client is being closed, the attempt is interrupted on purpose.
    if (!client_.queue.is_stopping() && !std::exchange(complained_, true)) {
      environment_.log(log_level::warning, "a connection is missing, and the others do its work: {}",
                       failure.what());
    }
  }
  count_connection();
  return slot_.is_connected();
}

void statement_worker::count_connection() {
  const bool connected = slot_.is_connected();
  if (std::exchange(noted_connection_, connected) != connected) client_.queue.count_worker(role_, connected);
}

template <class Body>
void statement_worker::attempt(batch& work, Body body) noexcept {
  try {
    body(work);
    count_connection();
  } catch (const error& failure) {
    fail(std::current_exception(), &failure, work);
  } catch (const std::bad_alloc&) {
    fail(std::current_exception(), nullptr, work);
  } catch (const std::exception& failure) {
    const auto wrapped = made_failure([&] { return error{errc::internal, failure.what()}; });
    try {
      std::rethrow_exception(wrapped);
    } catch (const error& known) {
      fail(wrapped, &known, work);
    } catch (...) {
      fail(wrapped, nullptr, work);
    }
  }
}

bool statement_worker::run_inline(const acquire_ptr& operation) {
  if (!carries(worker_role::acquires) || !owner_.try_lock()) return false;
  const model::annotated_lock own{owner_, std::adopt_lock};
  if (!slot_.is_connected()) return false;
  batch work = client_.queue.alone(operation);
  if (work.empty()) return false;
  attempt(work, [&](batch& all) ROWLOCK_REQUIRES(owner_) {
    operation->ttl ? carry(all) : fast_.acquire_or_enqueue(all);
  });
  for (const auto& rest : work.acquires) client_.queue.submit_again(rest);
  client_.queue.finish(work);
  return true;
}

bool statement_worker::run_inline(const release_ptr& operation, instant until) noexcept {
  if (!carries(worker_role::releases) || !owner_.try_lock()) return false;
  const model::annotated_lock own{owner_, std::adopt_lock};
  if (!slot_.is_connected()) return false;
  batch work;
  try {
    work = client_.queue.alone(operation);
  } catch (const std::bad_alloc&) {
    // Without memory for a batch the operation goes through the queue.
  }
  if (work.empty()) return false;
  slot_.limit_answers(until);
  attempt(work, [this](batch& all) ROWLOCK_REQUIRES(owner_) { carry(all); });
  slot_.limit_answers(instant::max());
  client_.queue.finish(work);
  return true;
}

void statement_worker::run_fallback(instant until) {
  batch work = client_.queue.take_fallback();
  if (work.empty()) return;
  slot_.limit_begins(until);
  attempt(work, [this](batch& all) ROWLOCK_REQUIRES(owner_) { carry(all); });
  slot_.limit_begins(instant::max());
  client_.queue.finish(work);
}

void statement_worker::carry(batch& work) {
  const auto calls = slot_.calls();
  fast_.release(work);
  fast_.hand_over(work.releases);
  fast_.acquire_or_enqueue(work);
  fast_.look_first(work.acquires);
  slow_.reserve(work.releases.size() + work.acquires.size());
  for (auto& operation : work.releases) {
    // A force or a sweep is not done once its caller has given up.
    const bool is_own = operation->purpose == release_operation::aim::release;
    if (!is_own && operation->answer && operation->answer->is_given_up()) continue;
    slow_.add(std::move(operation));
  }
  for (auto& operation : work.acquires) slow_.add(std::move(operation));
  work.releases.clear();
  work.acquires.clear();
  slow_.decide_all();
  run_tasks(work.tasks);
  if (slot_.calls() == calls) return;  // nothing was sent, so nothing has succeeded
  reconnect_.reset();
}

void statement_worker::run_tasks(std::vector<task_ptr>& tasks) {
  const auto rest =
      std::partition(tasks.begin(), tasks.end(), [](const task_ptr& task) { return task->edits.empty(); });
  std::vector<task_ptr> edits{rest, tasks.end()};
  tasks.erase(rest, tasks.end());
  while (!tasks.empty()) {
    const auto task = std::move(tasks.back());
    tasks.pop_back();
    run({&task, 1}, [&] { slot_.call([&](store::session& session) { task->work(session); }); });
  }
  std::erase_if(edits, [](const task_ptr& task) { return task->answer.is_complete(); });
  if (run(edits, [&] { edit_for(edits, client_, slot_); })) return;
  for (const auto& task : edits) {
    task->alone = true;
    submit_again(task);
  }
}

// A task that finds no connection makes one. If that fails, the tasks behind it fail at once, so that they do
// not each wait for a connection.
bool statement_worker::run(std::span<const task_ptr> tasks, const std::function<void()>& work) {
  const bool is_over =
      std::ranges::all_of(tasks, [](const task_ptr& task) { return task->answer.is_complete(); });
  if (is_over) return true;
  const bool connected = slot_.is_connected();
  std::exception_ptr cause;
  bool unknown = false;
  try {
    // An earlier try of a task may still run on a connection that broke.
    slot_.end_ghosts();
    work();
  } catch (const error& failure) {
    unknown = failure.outcome_unknown();
    if (tasks.size() > 1 && !unknown && slot_.is_connected()) return false;
    cause = std::current_exception();
    if (!connected && !slot_.is_connected()) client_.queue.fail_tasks(cause);
  } catch (...) {
    cause = std::current_exception();
  }
  bool is_wanted = true;
  for (const auto& task : tasks) is_wanted = answer(*task, cause ? cause : task->failure) && is_wanted;
  // A task's caller may not know what the task has left in the database.
  if (!is_wanted || unknown) client_.reconcile.request();
  // Such a ghost may be executed later than that.
  if (unknown) client_.reconcile.request_repeatedly();
  return true;
}

bool statement_worker::answer(task_operation& task, const std::exception_ptr& failure) noexcept {
  if (failure ? task.answer.fail(failure) : task.answer.complete(true)) return true;
  try {
    if (task.undo) task.undo();
  } catch (...) {
    // Reconciliation does what undo() could not.
  }
  return false;
}

// Each unanswered request of the batch is retried or fails. The requests of a batch that was refused are sent
// again one by one, because one of them may have failed the others: by a name that the database's encoding
// lacks, a constraint or a trigger. So a database that refuses everything is asked once more for each
// request. Nothing is guessed: a request that may have been granted takes the slow path next time, which
// finds out by the hold's id (I7).
void statement_worker::fail(const std::exception_ptr& cause, const error* failure, batch& work) noexcept {
  count_connection();
  slow_.take_back(work);
  failed how{.temporary = failure && is_temporary(*failure),
             .denied = failure && failure->code() == errc::privilege && !failure->outcome_unknown(),
             .unknown = !failure || failure->outcome_unknown(),
             .connected = slot_.is_connected()};
  if (!how.connected) how.reconnect = reconnect_.next();
  std::erase(work.acquires, nullptr);
  std::erase(work.releases, nullptr);
  how.take_apart = work.acquires.size() + work.releases.size() > 1 && !how.temporary;
  const bool comes_again = how.temporary || how.take_apart;
  log(failure, comes_again || callers_see_failure(work) ? log_level::info : log_level::error);
  for (auto& operation : work.acquires) fail(operation, cause, how);
  for (auto& operation : work.releases) fail(operation, cause, how);
  work.acquires.clear();
  work.releases.clear();
  for (const auto& task : work.tasks) submit_again(task);
  work.tasks.clear();
  if (!how.connected && !is_replaced()) client_.queue.fail_tasks(cause);
}

void statement_worker::submit_again(const task_ptr& task) noexcept {
  try {
    role_ == worker_role::acquires ? (void)client_.queue.submit_background(task) : client_.queue.submit(task);
  } catch (...) {
    task->answer.fail(std::current_exception());
  }
}

void statement_worker::fail(const acquire_ptr& operation, const std::exception_ptr& cause,
                            const failed& how) noexcept {
  auto& retry = operation->retry;
  // Any refusal but a missing right may have come after the commit.
  operation->progress.failed(how.denied);
  if (how.take_apart) {
    retry.set_apart();
    return client_.queue.delay(operation, how.reconnect);
  }
  retry.failed();
  operation->note_failure(cause);
  // One failure may be an idle connection that broke; two mean that the database cannot be reached.
  const int tries = how.connected || operation->progress.must_edit() ? failures_at_most : 2;
  const bool give_up = !how.temporary || (!operation->wait && retry.failures() >= tries);
  // A request that may have obtained something is taken up once more, to be withdrawn.
  const bool over = give_up && operation->answer.fail(cause);
  if (over && !(operation->progress.must_edit() && operation->lease)) return;
  client_.queue.delay(operation, std::max<std::chrono::nanoseconds>(how.reconnect, retry.again.next()));
}

// A release or a withdrawal is retried for as long as its lease lives: nothing else would end the hold.
void statement_worker::fail(const release_ptr& operation, const std::exception_ptr& cause,
                            const failed& how) noexcept {
  auto& retry = operation->retry;
  operation->in_doubt = operation->in_doubt || how.unknown;
  if (how.take_apart) {
    retry.set_apart();
    return client_.queue.delay(operation, how.reconnect);
  }
  how.temporary ? retry.failed() : retry.refused();
  const bool releases = operation->purpose == release_operation::aim::release;
  if (!how.temporary && !releases) {
    if (operation->answer) operation->answer->fail(cause);
    return;
  }
  if (!how.temporary && retry.failures() >= refusals_until_told && operation->answer) {
    operation->answer->complete(release_result::unknown);
  }
  const bool lease_is_over = !operation->lease || !operation->lease->is_valid(environment_.time.now());
  // close() ends the lease, and with it the hold.
  const bool lease_ends_now = how.denied && client_.queue.is_stopping();
  if (releases && !how.temporary && (lease_is_over || lease_ends_now) &&
      retry.failures() >= refusals_until_told) {
    // The lease is no longer renewed: its ttl ends the hold.
    if (operation->is_orphan) client_.reconcile.request();
    if (operation->answer) operation->answer->complete(release_result::unknown);
    return;
  }
  client_.queue.delay(operation, std::max<std::chrono::nanoseconds>(how.reconnect, retry.again.next()));
}

void statement_worker::log(const error* failure, log_level level) noexcept {
  if (!failure) return environment_.log(level, "there is no memory");
  try {
    const auto left_out = failures_.due(failure->what(), environment_.time.now());
    if (!left_out) return;
    if (*left_out == 0) return environment_.log(level, "{}: {}", to_string(failure->kind()), failure->what());
    environment_.log(level, "{}: {} (and {} times before)", to_string(failure->kind()), failure->what(),
                     *left_out);
  } catch (...) {
    // There is no memory for the line.
  }
}

}  // namespace rowlock::client_layer
