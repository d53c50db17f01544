#include "client/submission_queue.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

std::exception_ptr closed_error() {
  return std::make_exception_ptr(closed_client());
}

}  // namespace

submission_queue::side& submission_queue::serving(worker_role asked) {
  side& own = split_ ? side_of(asked) : acquiring_;
  if (own.connected_workers > 0) return own;
  side& other = asked == worker_role::releases ? acquiring_ : releasing_;
  return other.connected_workers > 0 ? other : own;
}

// After a stop, the worker of that role may have ended before this one lost its connection.
bool submission_queue::takes(worker_role role, worker_role asked) const {
  const bool replaces =
      side_of(asked).connected_workers == 0 && (stopped_ || side_of(role).connected_workers > 0);
  return role == worker_role::everything || role == asked || replaces;
}

void submission_queue::count_worker(worker_role role, bool connected) {
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    auto& workers = side_of(role).connected_workers;
    connected ? ++workers : --workers;
    acquiring_.blocked = releasing_.blocked = fallback_.blocked = false;
    stranded = is_fallback_needed();
  }
  wake_all();
  if (stranded) on_fallback_due();
}

// Whether the fallback worker sends releases now. Not after a stop: it ends with the lease.
bool submission_queue::is_fallback_needed() const {
  return !stopped_ && fallback_.connected_workers > 0 &&
         acquiring_.connected_workers + releasing_.connected_workers == 0;
}

instant submission_queue::fallback_due() {
  const model::annotated_lock lock{mutex_};
  if (!is_fallback_needed()) return instant::max();
  add_delayed_releases();
  if (pending_.has_releases() && !fallback_.blocked) return {};
  return pending_.next_delayed_release();
}

batch submission_queue::take_fallback() {
  const model::annotated_lock lock{mutex_};
  batch taken;
  if (!is_fallback_needed()) return taken;
  add_delayed_releases();
  pending_.take_releases(taken);
  fallback_.blocked = taken.empty();
  if (!taken.empty()) pending_.begin();
  return taken;
}

void submission_queue::put_back(batch work) {
  std::vector<acquire_ptr> refused;
  {
    const model::annotated_lock lock{mutex_};
    if (stopping_) refused.swap(work.acquires);
    pending_.put_back(work);
  }
  finish(work);
  wake_all();
  fail(refused, closed_error());
}

template <class Operation>
void submission_queue::submit_to(worker_role role, const Operation& operation) {
  side* wake = nullptr;
  bool refused = false;
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) {
      pending_.add(operation);
      side& serves = serving(role);
      serves.blocked = false;
      if (serves.idle_workers > 0) wake = &serves;
    }
  }
  if (wake) wake->work.notify_one();
  if (refused) fail(std::vector{operation}, closed_error());
}

void submission_queue::submit(const acquire_ptr& operation) {
  mark(*operation);
  submit_to(worker_role::acquires, operation);
}

void submission_queue::submit(const task_ptr& operation) {
  submit_to(worker_role::releases, operation);
}

void submission_queue::submit(const std::vector<release_ptr>& operations) {
  side* wake = nullptr;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    side& releasing = serving(worker_role::releases);
    for (const auto& operation : operations) {
      mark(*operation);
      pending_.add(operation);
    }
    releasing.blocked = fallback_.blocked = false;
    if (releasing.idle_workers > 0) wake = &releasing;
    stranded = is_fallback_needed();
  }
  if (wake) wake->work.notify_one();
  if (stranded) on_fallback_due();
}

template <class Operation>
bool submission_queue::delay_for_acquiring(const Operation& operation, std::chrono::nanoseconds pause) {
  side* wake = nullptr;
  bool refused = false;
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) pending_.delay(operation, context_.time.now() + pause);
    wake = &serving(worker_role::acquires);
  }
  wake->work.notify_one();
  if (refused) fail(std::vector{operation}, closed_error());
  return !refused;
}

bool submission_queue::submit_background(const task_ptr& operation, std::chrono::nanoseconds pause) {
  return delay_for_acquiring(operation, pause);
}

void submission_queue::delay(const acquire_ptr& operation, std::chrono::nanoseconds pause) {
  delay_for_acquiring(operation, pause);
}

void submission_queue::delay(release_ptr operation, std::chrono::nanoseconds pause) {
  side* wake = nullptr;
  bool dropped = false;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    dropped = stopped_;
    stranded = is_fallback_needed();
    if (!dropped) pending_.delay(operation, context_.time.now() + pause);
    wake = &serving(worker_role::releases);
  }
  wake->work.notify_one();
  if (stranded) on_fallback_due();
  if (dropped && operation->answer) operation->answer->complete(release_result::unknown);
}

bool submission_queue::has_work(worker_role role) const {
  const bool acquires = ((acquires_allowed_ && pending_.has_acquires()) || pending_.has_background()) &&
                        takes(role, worker_role::acquires);
  const bool tasks = pending_.has_tasks() && takes(role, worker_role::releases);
  return acquires || tasks || (pending_.has_releases() && sends_releases(role));
}

void submission_queue::add_delayed(worker_role role) {
  if (takes(role, worker_role::acquires) && pending_.add_delayed_acquires(context_.time.now())) {
    serving(worker_role::acquires).blocked = false;
  }
  if (sends_releases(role)) add_delayed_releases();
}

void submission_queue::add_delayed_releases() {
  if (pending_.add_delayed_releases(context_.time.now())) {
    serving(worker_role::releases).blocked = fallback_.blocked = false;
  }
}

instant submission_queue::next_delayed(worker_role role) const {
  auto next = instant::max();
  if (takes(role, worker_role::acquires)) next = pending_.next_delayed_acquire();
  if (sends_releases(role)) next = std::min(next, pending_.next_delayed_release());
  return next;
}

bool submission_queue::fill(batch& taken, worker_role role) {
  const bool acquires = takes(role, worker_role::acquires);
  const bool alone_first = acquires && acquires_allowed_ && pending_.has_passed_over();
  if (alone_first) pending_.take_acquires(taken);
  // Releases first: an acquire of the same name then finds it free.
  if (sends_releases(role)) pending_.take_releases(taken);
  if (acquires && acquires_allowed_ && !alone_first) pending_.take_acquires(taken);
  if (takes(role, worker_role::releases)) pending_.take_task(taken);
  if (acquires) pending_.take_background(taken);
  return !taken.empty();
}

batch submission_queue::take(worker_role role, const std::function<bool()>& is_connected) {
  model::annotated_lock lock{mutex_};
  side& mine = side_of(role);
  for (;;) {
    const bool others = acquiring_.connected_workers + releasing_.connected_workers > 0;
    if (others && !stopped_ && is_connected && !is_connected()) {
      batch nothing;
      nothing.must_connect = true;
      return nothing;
    }
    add_delayed(role);
    if (has_work(role) && !mine.blocked) {
      if (batch taken; fill(taken, role)) {
        pending_.begin();
        return taken;
      }
      mine.blocked = true;
    }
    if (is_over()) {
      wake_all();
      return {};
    }
    ++mine.idle_workers;
    const auto next = next_delayed(role);
    if (next == instant::max()) {
      mine.work.wait(lock);
    } else {
      context_.time.wait_until(lock, mine.work, next);
    }
    --mine.idle_workers;
  }
}

template <class Operation>
batch submission_queue::reserve(const Operation& operation, const std::string& name,
                                std::vector<Operation> batch::*into) {
  batch single;
  if (stopped_ || !pending_.reserve(name, single)) return single;
  (single.*into).push_back(operation);
  pending_.begin();
  return single;
}

batch submission_queue::alone(const acquire_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (!acquires_allowed_ || stopping_ || pending_.has_acquires()) return {};
  mark(*operation);
  return reserve(operation, operation->definition.name, &batch::acquires);
}

batch submission_queue::alone(const release_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (pending_.has_releases() || pending_.has_tasks()) return {};
  return reserve(operation, operation->name, &batch::releases);
}

// A worker that waits may have found that name in the batch; the others of its side may be busy with their own.
bool submission_queue::is_worth_a_look(worker_role role) {
  side& looking = side_of(role);
  return std::exchange(looking.blocked, false) || (looking.idle_workers > 0 && has_work(role));
}

void submission_queue::finish(const batch& done) {
  bool wake_acquiring = false;
  bool wake_releasing = false;
  bool stranded = false;
  bool idle = false;
  bool over = false;  // the workers are to end
  {
    const model::annotated_lock lock{mutex_};
    pending_.finish(done);
    wake_acquiring = is_worth_a_look(worker_role::acquires);
    wake_releasing = is_worth_a_look(worker_role::releases);
    stranded = std::exchange(fallback_.blocked, false) && is_fallback_needed();
    idle = pending_.is_idle();
    over = is_over();
  }
  if (wake_acquiring || over) work_of(worker_role::acquires).notify_all();
  if (wake_releasing || over) work_of(worker_role::releases).notify_all();
  if (stranded) on_fallback_due();
  if (idle) idle_.notify_all();
}

void submission_queue::withdraw(acquire_operation& operation) {
  if (operation.progress.may_be_stored()) submit(withdrawal_of(operation));
  // Only the withdrawal uses the id now. What a fail-over brings back after it is an orphan, even if somebody keeps the
  // request.
  operation.answer.in_use = {};
}

// A place in the queue would otherwise stay until somebody finds its lease ended, and a barrier would not break.
void submission_queue::fail(const std::vector<acquire_ptr>& acquires, const std::exception_ptr& failure) {
  for (const auto& one : acquires) {
    const bool has_lease = one->lease && one->lease->is_valid(context_.time.now());
    if (one->moving_to || (has_lease && one->progress.must_edit())) withdraw(*one);
    one->answer.fail(failure);
  }
}

std::size_t submission_queue::fail_acquires(const std::exception_ptr& failure, bool also_waiting) {
  model::annotated_lock lock{mutex_};
  const auto failed = pending_.remove_acquires(failure, also_waiting);
  lock.unlock();
  fail(failed, failure);
  return failed.size();
}

void submission_queue::fail_tasks(const std::exception_ptr& failure) {
  model::annotated_lock lock{mutex_};
  const auto failed = pending_.remove_tasks();
  lock.unlock();
  fail(failed, failure);
}

void submission_queue::stop_acquires() {
  model::annotated_lock lock{mutex_};
  stopping_ = true;
  const auto background = pending_.remove_background();
  lock.unlock();
  fail_acquires(closed_error(), true);
  fail_tasks(closed_error());
  fail(background, closed_error());
}

void submission_queue::stop() {
  std::vector<release_ptr> dropped;
  {
    const model::annotated_lock lock{mutex_};
    stopped_ = true;
    dropped = pending_.drop_delayed();
  }
  for (const auto& operation : dropped) {
    if (operation->answer) operation->answer->complete(release_result::unknown);
  }
  reconnects_.close();
  wake_all();
}

bool submission_queue::drain(instant until) {
  model::annotated_lock lock{mutex_};
  while (!pending_.is_idle()) {
    if (context_.time.now() >= until) return false;
    context_.time.wait_until(lock, idle_, until);
  }
  return true;
}

}  // namespace rowlock::client_layer
