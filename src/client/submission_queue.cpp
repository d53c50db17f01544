#include "client/submission_queue.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// In larger batches the statement's own time outweighs the round trips that they save.
constexpr std::size_t batch_limit = 256;
// Each joined request is decided from all permits of the name, while the row is locked.
constexpr std::size_t joined_limit = 64;

const std::string& name_of(const acquire_ptr& operation) {
  return operation->definition.name;
}
const std::string& name_of(const release_ptr& operation) {
  return operation->name;
}

std::exception_ptr closed_error() {
  return std::make_exception_ptr(closed_client());
}

// A sweep without a caller: one of them per name is enough.
bool is_background_sweep(const release_operation& operation) {
  return operation.purpose == release_operation::aim::sweep && !operation.answer &&
         !operation.is_pending_sweep;
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

// The fallback worker sends releases now. Not after a stop: it ends with the lease.
bool submission_queue::is_fallback_needed() const {
  return !stopped_ && fallback_.connected_workers > 0 &&
         acquiring_.connected_workers + releasing_.connected_workers == 0;
}

instant submission_queue::fallback_due() {
  const model::annotated_lock lock{mutex_};
  if (!is_fallback_needed()) return instant::max();
  promote_delayed();
  if (!releases_.empty() && !fallback_.blocked) return {};
  return delayed_.empty() ? instant::max() : delayed_.begin()->first;
}

batch submission_queue::take_fallback() {
  const model::annotated_lock lock{mutex_};
  batch taken;
  if (!is_fallback_needed()) return taken;
  promote_delayed();
  std::unordered_map<std::string, std::size_t> open;
  take_distinct(releases_, taken.releases, taken, open);
  fallback_.blocked = taken.empty();
  if (!taken.empty()) ++under_way_;
  return taken;
}

bool submission_queue::has_connected_worker() const {
  const model::annotated_lock lock{mutex_};
  return acquiring_.connected_workers + releasing_.connected_workers > 0;
}

void submission_queue::put_back(batch work) {
  std::vector<acquire_ptr> refused;
  {
    const model::annotated_lock lock{mutex_};
    if (stopping_) refused.swap(work.acquires);
    const auto to_the_front = [](auto& queue, auto& taken) {
      queue.insert(queue.begin(), std::make_move_iterator(taken.begin()),
                   std::make_move_iterator(taken.end()));
    };
    to_the_front(acquires_, work.acquires);
    to_the_front(releases_, work.releases);
    to_the_front(tasks_, work.tasks);
  }
  finish(work);
  wake_all();
  for (auto& operation : refused) operation->answer.fail(closed_error());
}

bool submission_queue::sleep(std::chrono::nanoseconds pause) {
  return reconnects_.sleep_until(context_.time.now() + pause);
}

void submission_queue::mark(acquire_operation& operation) {
  if (!operation.in_use.is_of(operation.hold)) operation.in_use = ids_.use(operation.hold);
}

void submission_queue::mark(release_operation& operation) {
  const bool whose = operation.purpose == release_operation::aim::release;
  if (whose && !operation.in_use.is_of(operation.hold)) operation.in_use = ids_.use(operation.hold);
}

bool submission_queue::is_needed(const release_operation& operation) {
  return !is_background_sweep(operation) || sweeps_.insert(operation.name).second;
}

void submission_queue::now_taken(const release_operation& operation) {
  if (is_background_sweep(operation)) sweeps_.erase(operation.name);
}

void submission_queue::submit(acquire_ptr operation) {
  side* wake = nullptr;
  bool refused = false;
  mark(*operation);
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) {
      acquires_.push_back(operation);
      side& acquiring = serving(worker_role::acquires);
      acquiring.blocked = false;
      if (acquiring.idle_workers > 0) wake = &acquiring;
    }
  }
  if (wake) wake->work.notify_one();
  if (refused) operation->answer.fail(closed_error());
}

void submission_queue::submit(release_ptr operation) {
  submit(std::vector{std::move(operation)});
}

void submission_queue::submit(const std::vector<release_ptr>& operations) {
  side* wake = nullptr;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    side& releasing = serving(worker_role::releases);
    for (const auto& operation : operations) {
      mark(*operation);
      if (is_needed(*operation)) releases_.push_back(operation);
    }
    releasing.blocked = fallback_.blocked = false;
    if (releasing.idle_workers > 0) wake = &releasing;
    stranded = is_fallback_needed();
  }
  if (wake) wake->work.notify_one();
  if (stranded) on_fallback_due();
}

void submission_queue::submit(task_ptr operation) {
  side* wake = nullptr;
  bool refused = false;
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) {
      tasks_.push_back(operation);
      wake = &serving(worker_role::releases);
      wake->blocked = false;
    }
  }
  if (wake) wake->work.notify_one();
  if (refused) operation->answer.fail(closed_error());
}

bool submission_queue::submit_background(const task_ptr& operation, std::chrono::nanoseconds pause) {
  side* wake = nullptr;
  bool refused = false;
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) delayed_.emplace(context_.time.now() + pause, delayed{nullptr, nullptr, operation});
    wake = &serving(worker_role::acquires);
  }
  wake->work.notify_one();
  if (refused) operation->answer.fail(closed_error());
  return !refused;
}

void submission_queue::delay(acquire_ptr operation, std::chrono::nanoseconds pause) {
  side* wake = nullptr;
  bool refused = false;
  {
    const model::annotated_lock lock{mutex_};
    refused = stopping_;
    if (!refused) delayed_.emplace(context_.time.now() + pause, delayed{operation, nullptr});
    wake = &serving(worker_role::acquires);
  }
  wake->work.notify_one();
  if (refused) operation->answer.fail(closed_error());
}

void submission_queue::delay(release_ptr operation, std::chrono::nanoseconds pause) {
  side* wake = nullptr;
  bool dropped = false;
  bool stranded = false;
  {
    const model::annotated_lock lock{mutex_};
    dropped = stopped_;
    stranded = is_fallback_needed();
    mark(*operation);
    if (!dropped && is_needed(*operation)) {
      delayed_.emplace(context_.time.now() + pause, delayed{nullptr, operation});
    }
    wake = &serving(worker_role::acquires);
  }
  wake->work.notify_one();
  if (stranded) on_fallback_due();
  if (dropped && operation->answer) operation->answer->complete(release_result::unknown);
}

void submission_queue::allow_acquires(bool allowed) {
  {
    const model::annotated_lock lock{mutex_};
    acquires_allowed_ = allowed;
    acquiring_.blocked = releasing_.blocked = false;
  }
  wake_all();
}

void submission_queue::wake_all() {
  work_of(worker_role::acquires).notify_all();
  work_of(worker_role::releases).notify_all();
}

bool submission_queue::has_work(worker_role role) const {
  const bool acquires = ((acquires_allowed_ && !acquires_.empty()) || !background_.empty()) &&
                        takes(role, worker_role::acquires);
  const bool releases = ((!releases_.empty() && !is_fallback_needed()) || !tasks_.empty()) &&
                        takes(role, worker_role::releases);
  return acquires || releases;
}

bool submission_queue::is_idle() const {
  return releases_.empty() && tasks_.empty() && background_.empty() && delayed_.empty() && under_way_ == 0;
}

void submission_queue::promote_delayed() {
  const auto now = context_.time.now();
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto [acquire, release, task] = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    if (acquire) {
      acquires_.push_back(std::move(acquire));
      serving(worker_role::acquires).blocked = false;
    }
    if (task) {
      background_.push_back(std::move(task));
      serving(worker_role::acquires).blocked = false;
    }
    if (release) {
      releases_.push_back(std::move(release));
      side& releasing = serving(worker_role::releases);
      releasing.blocked = fallback_.blocked = false;
      // The workers that release do not wake by themselves for delayed operations.
      releasing.work.notify_one();
    }
  }
}

// open: the names of this batch that more requests may join, and how many have. A request that may not join
// closes its name for those behind it. A request to be sent alone is taken if it is the first.
template <class Operation>
void submission_queue::take_distinct(std::deque<Operation>& from, std::vector<Operation>& to, batch& into,
                                     std::unordered_map<std::string, std::size_t>& open) {
  std::size_t kept = 0;
  std::size_t at = 0;
  for (; at < from.size() && to.size() < batch_limit && !into.alone; ++at) {
    const auto& name = name_of(from[at]);
    const bool alone = from[at]->retry.alone;
    const bool joins = from[at]->joins() && !alone;
    if (alone && !into.empty()) {
      open.erase(name);
      std::swap(from[kept++], from[at]);
    } else if (reserved_.insert(name).second) {
      into.names.push_back(name);
      if (joins) open.emplace(name, 1);
      into.alone = alone;
      now_taken(*from[at]);
      to.push_back(std::move(from[at]));
    } else if (const auto others = open.find(name);
               joins && others != open.end() && others->second < joined_limit) {
      into.joined.insert(name);
      ++others->second;
      now_taken(*from[at]);
      to.push_back(std::move(from[at]));
    } else {
      open.erase(name);
      std::swap(from[kept++], from[at]);
    }
  }
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(kept),
             from.begin() + static_cast<std::ptrdiff_t>(at));
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
    promote_delayed();
    if (has_work(role) && !mine.blocked) {
      batch taken;
      std::unordered_map<std::string, std::size_t> open;
      if (takes(role, worker_role::releases)) {
        taken.tasks.assign(std::make_move_iterator(tasks_.begin()), std::make_move_iterator(tasks_.end()));
        tasks_.clear();
        // Releases first: an acquire of the same name then finds it free.
        if (!is_fallback_needed()) take_distinct(releases_, taken.releases, taken, open);
      }
      if (takes(role, worker_role::acquires) && !background_.empty()) {
        // One at a time: each may take as long as a statement may.
        taken.tasks.push_back(std::move(background_.front()));
        background_.pop_front();
      }
      if (takes(role, worker_role::acquires) && acquires_allowed_) {
        take_distinct(acquires_, taken.acquires, taken, open);
      }
      if (!taken.empty()) {
        ++under_way_;
        return taken;
      }
      mine.blocked = true;
    }
    if (stopped_ && is_idle()) {
      wake_all();
      return {};
    }
    ++mine.idle_workers;
    if (delayed_.empty() || !takes(role, worker_role::acquires)) {
      mine.work.wait(lock);
    } else {
      const auto next = delayed_.begin()->first;
      context_.time.wait_until(lock, mine.work, next);
    }
    --mine.idle_workers;
  }
}

template <class Operation>
batch submission_queue::reserve(const Operation& operation, std::vector<Operation> batch::*into) {
  batch single;
  if (stopped_ || !reserved_.insert(name_of(operation)).second) return single;
  mark(*operation);
  single.names.push_back(name_of(operation));
  (single.*into).push_back(operation);
  ++under_way_;
  return single;
}

batch submission_queue::alone(const acquire_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (!acquires_allowed_ || stopping_ || !acquires_.empty()) return {};
  return reserve(operation, &batch::acquires);
}

batch submission_queue::alone(const release_ptr& operation) {
  const model::annotated_lock lock{mutex_};
  if (!releases_.empty() || !tasks_.empty()) return {};
  return reserve(operation, &batch::releases);
}

void submission_queue::finish(const batch& done) {
  bool wake_acquiring = false;
  bool wake_releasing = false;
  bool stranded = false;
  bool idle = false;
  bool over = false;  // the workers are to end
  {
    const model::annotated_lock lock{mutex_};
    for (const auto& name : done.names) reserved_.erase(name);
    --under_way_;
    wake_acquiring = std::exchange(acquiring_.blocked, false);
    wake_releasing = std::exchange(releasing_.blocked, false);
    stranded = std::exchange(fallback_.blocked, false) && is_fallback_needed();
    idle = is_idle();
    over = idle && stopped_;
  }
  if (wake_acquiring || over) work_of(worker_role::acquires).notify_all();
  if (wake_releasing || over) work_of(worker_role::releases).notify_all();
  if (stranded) on_fallback_due();
  if (idle) idle_.notify_all();
}

std::size_t submission_queue::fail_acquires(const std::exception_ptr& failure, bool also_waiting) {
  std::vector<acquire_ptr> failed;
  {
    const model::annotated_lock lock{mutex_};
    const auto fails = [&](const acquire_ptr& operation) { return also_waiting || !operation->wait; };
    for (auto& operation : acquires_) {
      operation->note_failure(failure);
      if (fails(operation)) failed.push_back(operation);
    }
    std::erase_if(acquires_, fails);
    for (auto at = delayed_.begin(); at != delayed_.end();) {
      const auto& operation = at->second.acquire;
      if (operation) operation->note_failure(failure);
      if (operation && fails(operation)) {
        failed.push_back(operation);
        at = delayed_.erase(at);
      } else {
        ++at;
      }
    }
  }
  for (auto& operation : failed) operation->answer.fail(failure);
  return failed.size();
}

void submission_queue::fail_tasks(const std::exception_ptr& failure) {
  std::deque<task_ptr> failed;
  {
    const model::annotated_lock lock{mutex_};
    failed.swap(tasks_);
  }
  for (auto& operation : failed) operation->answer.fail(failure);
}

void submission_queue::fail_background(const std::exception_ptr& failure) {
  std::deque<task_ptr> failed;
  {
    const model::annotated_lock lock{mutex_};
    failed.swap(background_);
    for (auto at = delayed_.begin(); at != delayed_.end();) {
      if (!at->second.task) {
        ++at;
        continue;
      }
      failed.push_back(std::move(at->second.task));
      at = delayed_.erase(at);
    }
  }
  for (auto& operation : failed) operation->answer.fail(failure);
}

void submission_queue::stop_acquires() {
  {
    const model::annotated_lock lock{mutex_};
    stopping_ = true;
  }
  fail_acquires(closed_error(), true);
  fail_tasks(closed_error());
  fail_background(closed_error());
}

bool submission_queue::is_stopping() const {
  const model::annotated_lock lock{mutex_};
  return stopping_;
}

void submission_queue::stop() {
  std::multimap<instant, delayed> dropped;
  {
    const model::annotated_lock lock{mutex_};
    stopped_ = true;
    dropped.swap(delayed_);
  }
  for (const auto& [when, operation] : dropped) {
    if (operation.release && operation.release->answer)
      operation.release->answer->complete(release_result::unknown);
  }
  reconnects_.close();
  wake_all();
}

bool submission_queue::drain(instant until) {
  model::annotated_lock lock{mutex_};
  while (!is_idle()) {
    if (context_.time.now() >= until) return false;
    context_.time.wait_until(lock, idle_, until);
  }
  return true;
}

}  // namespace rowlock::client_layer
