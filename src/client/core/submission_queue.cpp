#include "client/core/submission_queue.hpp"

#include <utility>

namespace rowlock::client_layer {

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
  if (stranded) agenda_.wake();
}

void submission_queue::use_lease(std::shared_ptr<client_layer::lease> made) noexcept {
  std::exception_ptr over;
  {
    const model::annotated_lock lock{mutex_};
    lease_.swap(made);
    over.swap(no_lease_);
    acquiring_.blocked = releasing_.blocked = false;
  }
  wake_all();
}

bool submission_queue::drop_lease(const client_layer::lease& over) noexcept {
  const model::annotated_lock lock{mutex_};
  if (lease_.get() != &over) return false;
  lease_.reset();
  return true;
}

void submission_queue::note_no_lease(std::exception_ptr failure) noexcept {
  const model::annotated_lock lock{mutex_};
  no_lease_.swap(failure);
  no_lease_since_ = environment_.time.now();
}

std::exception_ptr submission_queue::why_no_lease(instant since) const noexcept {
  const model::annotated_lock lock{mutex_};
  return no_lease_since_ > since ? no_lease_ : nullptr;
}

std::shared_ptr<lease> submission_queue::lease() const {
  auto used = lease_in_use();
  return used && used->is_valid(environment_.time.now()) ? used : nullptr;
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

void submission_queue::put_back(batch work) noexcept {
  std::vector<acquire_ptr> refused;
  {
    const model::annotated_lock lock{mutex_};
    if (stopping_) refused.swap(work.acquires);
    pending_.put_back(work, environment_.time.now());
  }
  finish(work);
  wake_all();
  for (const auto& one : refused) fail(*one, made_failure(closed_client));
  fail_each(work.tasks, std::make_exception_ptr(std::bad_alloc{}));
}

template <class Add>
bool submission_queue::enter(worker_role role, Add add) {
  side* wake = nullptr;
  {
    const model::annotated_lock lock{mutex_};
    if (stopping_) return false;
    add();
    side& serves = serving(role);
    serves.blocked = false;
    if (must_wake(serves)) wake = &serves;
  }
  if (wake) wake->work.wake_one();
  return true;
}

void submission_queue::submit(const acquire_ptr& operation) {
  mark(*operation);
  const auto add = [&]() ROWLOCK_REQUIRES(mutex_) { pending_.add(operation); };
  if (!enter(worker_role::acquires, add)) fail(*operation, made_failure(closed_client));
}

void submission_queue::submit_again(acquire_ptr operation) noexcept {
  const auto add = [&]() ROWLOCK_REQUIRES(mutex_) {
    pending_.keep(operation, environment_.time.now(), [&]() ROWLOCK_REQUIRES(mutex_) {
      mark(*operation);
      pending_.add(operation);
    });
  };
  if (!enter(worker_role::acquires, add)) fail(*operation, made_failure(closed_client));
}

void submission_queue::submit(const task_ptr& operation) {
  const auto add = [&]() ROWLOCK_REQUIRES(mutex_) { pending_.add(operation); };
  if (!enter(worker_role::releases, add)) operation->answer.fail(made_failure(closed_client));
}

void submission_queue::add(release_ptr operation) noexcept {
  pending_.keep(operation, environment_.time.now(), [&]() ROWLOCK_REQUIRES(mutex_) {
    mark(*operation);
    pending_.add(operation);
  });
}

template <class Add>
void submission_queue::enter_release(Add add) noexcept {
  side* wake = nullptr;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    add();
    side& releasing = serving(worker_role::releases);
    releasing.blocked = fallback_.blocked = false;
    if (must_wake(releasing)) wake = &releasing;
    stranded = is_fallback_needed();
  }
  if (wake) wake->work.wake_one();
  if (stranded) agenda_.wake();
}

void submission_queue::submit(release_ptr operation) noexcept {
  enter_release([&]() ROWLOCK_REQUIRES(mutex_) { add(std::move(operation)); });
}

void submission_queue::submit(release_list operations) noexcept {
  enter_release([&]() ROWLOCK_REQUIRES(mutex_) {
    while (!operations.empty()) add(operations.pop());
  });
}

void submission_queue::submit(const std::vector<release_ptr>& operations) noexcept {
  enter_release([&]() ROWLOCK_REQUIRES(mutex_) {
    for (const auto& one : operations) add(one);
  });
}

bool submission_queue::submit_background(const task_ptr& operation, std::chrono::nanoseconds pause) {
  const auto add = [&]() ROWLOCK_REQUIRES(mutex_) {
    pending_.delay(operation, environment_.time.now() + pause);
  };
  if (enter(worker_role::acquires, add)) return true;
  operation->answer.fail(made_failure(closed_client));
  return false;
}

void submission_queue::delay(acquire_ptr operation, std::chrono::nanoseconds pause) noexcept {
  const auto add = [&]() ROWLOCK_REQUIRES(mutex_) {
    const auto now = environment_.time.now();
    pending_.keep(operation, now, [&]() ROWLOCK_REQUIRES(mutex_) { pending_.delay(operation, now + pause); });
  };
  if (!enter(worker_role::acquires, add)) fail(*operation, made_failure(closed_client));
}

void submission_queue::delay(release_ptr operation, std::chrono::nanoseconds pause) noexcept {
  side* wake = nullptr;
  bool dropped = false;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    dropped = stopped_;
    stranded = is_fallback_needed();
    const auto now = environment_.time.now();
    bool is_new = true;
    if (!dropped) {
      pending_.keep(operation, now,
                    [&]() ROWLOCK_REQUIRES(mutex_) { is_new = pending_.delay(operation, now + pause); });
    }
    if (!is_new) return;  // each release of an unfair lock comes here, and one sweep serves many
    wake = &serving(worker_role::releases);
  }
  wake->work.wake_one();
  if (stranded) agenda_.wake();
  if (dropped && operation->answer) operation->answer->complete(release_result::unknown);
}

void submission_queue::add_delayed(worker_role role) {
  const auto marks = [this](acquire_operation& one) { mark(one); };
  if (takes(role, worker_role::acquires) && pending_.add_delayed_acquires(environment_.time.now(), marks)) {
    serving(worker_role::acquires).blocked = false;
  }
  if (sends_releases(role)) add_delayed_releases();
}

void submission_queue::add_delayed_releases() {
  const auto marks = [this](release_operation& one) { mark(one); };
  if (pending_.add_delayed_releases(environment_.time.now(), marks)) {
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
  const bool alone_first = acquires && lease_ && pending_.has_passed_over();
  try {
    if (alone_first) pending_.take_acquires(taken);
    // Releases first: an acquire of the same name then finds the lock free.
    if (sends_releases(role)) pending_.take_releases(taken);
    if (acquires && lease_ && !alone_first) pending_.take_acquires(taken);
    if (takes(role, worker_role::releases)) pending_.take_task(taken);
    if (acquires) pending_.take_background(taken);
  } catch (const std::bad_alloc&) {
    // What was taken so far is a batch, too.
    if (taken.empty()) throw;
  }
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
        taken.lease = lease_;
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
    const auto seen = mine.work.seen();
    lock.unlock();
    if (next == instant::max()) {
      mine.work.wait(seen);
    } else {
      environment_.time.wait_until(mine.work, seen, next);
    }
    lock.lock();
    --mine.idle_workers;
    if (mine.woken_workers > 0) --mine.woken_workers;
  }
}

template <class Operation>
batch submission_queue::reserve(const Operation& operation, const std::string& name,
                                std::vector<Operation> batch::*into) {
  batch single;
  (single.*into).push_back(operation);
  if (stopped_ || pending_.is_released_first(name) || !pending_.reserve(name, single)) return {};
  single.lease = lease_;
  pending_.begin();
  return single;
}

batch submission_queue::alone(const acquire_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (!lease_ || stopping_ || pending_.has_acquires()) return {};
  mark(*operation);
  return reserve(operation, operation->definition.name, &batch::acquires);
}

batch submission_queue::alone(const release_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (pending_.has_releases() || pending_.has_tasks()) return {};
  return reserve(operation, operation->name, &batch::releases);
}

// An idle worker may have passed over a request because the batch that is now finished had its name; the
// other workers of its side may be busy with batches of their own.
bool submission_queue::is_worth_a_look(worker_role role) {
  side& looking = side_of(role);
  return std::exchange(looking.blocked, false) || (looking.idle_workers > 0 && has_work(role));
}

void submission_queue::finish(const batch& done) noexcept {
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
  if (wake_acquiring || over) work_of(worker_role::acquires).wake_all();
  if (wake_releasing || over) work_of(worker_role::releases).wake_all();
  if (stranded) agenda_.wake();
  if (idle) idle_.notify_all();
}

void submission_queue::withdraw(acquire_operation& operation) noexcept {
  if (operation.progress.may_be_stored()) {
    if (auto withdrawal = take_withdrawal_of(operation)) submit(std::move(withdrawal));
  }
  // From now on only the withdrawal uses the id. What a fail-over brings back after the withdrawal is an
  // orphan, even if somebody keeps the request.
  operation.answer.in_use = {};
}

// A place in the queue would otherwise stay until somebody finds its lease ended, and a barrier would not break.
void submission_queue::fail(acquire_operation& operation, const std::exception_ptr& failure) noexcept {
  const bool has_lease = operation.lease && operation.lease->is_valid(environment_.time.now());
  if (operation.moving_to || (has_lease && operation.progress.must_edit())) withdraw(operation);
  operation.answer.fail(failure);
}

std::size_t submission_queue::fail_acquires(const std::exception_ptr& failure, bool also_waiting) noexcept {
  model::annotated_lock lock{mutex_};
  auto failed = pending_.remove_acquires(failure, also_waiting);
  lock.unlock();
  const auto count = failed.size();
  fail(std::move(failed), failure);
  return count;
}

void submission_queue::fail_tasks(const std::exception_ptr& failure) noexcept {
  model::annotated_lock lock{mutex_};
  const auto failed = pending_.remove_tasks();
  lock.unlock();
  fail_each(failed, failure);
}

void submission_queue::stop_acquires() noexcept {
  model::annotated_lock lock{mutex_};
  stopping_ = true;
  const auto background = pending_.remove_background();
  lock.unlock();
  fail_acquires(made_failure(closed_client), true);
  fail_tasks(made_failure(closed_client));
  fail_each(background, made_failure(closed_client));
}

void submission_queue::stop() noexcept {
  release_list dropped;
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
    if (environment_.time.now() >= until) return false;
    environment_.time.wait_until(lock, idle_, until);
  }
  return true;
}

}  // namespace rowlock::client_layer
