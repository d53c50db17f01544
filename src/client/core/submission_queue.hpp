// The queue of a client, from which its workers take batches. Requests that arrive while a worker's statement
// is under way are gathered in its next batch; a single request waits for nothing.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/base/wait_word.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/lease.hpp"
#include "client/core/pending_operations.hpp"
#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace rowlock::client_layer {

// What a worker sends. Acquires wait for the disk and fast releases do not: on a shared connection each
// release would wait for another request's commit. The fallback worker borrows the lease's connection and
// sends releases while no worker is connected.
enum class worker_role : std::uint8_t { everything, acquires, releases, fallback };

// Thread-safe.
class submission_queue {
 public:
  submission_queue(client_environment& environment, keeper_agenda& agenda)
      : environment_(environment), agenda_(agenda) {}

  // Call it before the first take(). split: there is a worker for each role. Otherwise one does everything.
  void split_roles(bool split) { split_ = split; }

  // If memory runs out, nothing was submitted.
  void submit(const acquire_ptr& operation);
  void submit(const task_ptr& operation);
  // The same for what the client must not lose: without memory it is added later.
  void submit_again(acquire_ptr operation) noexcept;
  void submit(release_ptr operation) noexcept;
  void submit(release_list operations) noexcept;  // so that one batch may carry them all
  void submit(const std::vector<release_ptr>& operations) noexcept;

  // Counts connected workers. If no connected worker has a role, the others do its work.
  void count_worker(worker_role role, bool connected);
  bool has_connected_worker() const {  // the fallback worker does not count
    const model::annotated_lock lock{mutex_};
    return acquiring_.connected_workers + releasing_.connected_workers > 0;
  }
  // When the fallback worker has work: releases, while it is connected and no other worker is.
  instant fallback_due();
  // Returns a batch of that work. Does not wait; the batch may be empty.
  batch take_fallback();
  // Returns a batch unchanged, for another worker.
  void put_back(batch work) noexcept;
  // A pause for a worker without a connection. False: the queue was stopped.
  bool sleep(std::chrono::nanoseconds pause) {
    return reconnects_.sleep_until(environment_.time.now() + pause);
  }
  // A task that must not delay releases: the workers that acquire run it, after the pause. False: the queue
  // accepts no more, and the task fails.
  bool submit_background(const task_ptr& operation, std::chrono::nanoseconds pause = {});

  // Nobody waits for the operation any more: releases its grant, or takes it out of the queue. Sends nothing if the
  // database certainly knows nothing of it.
  void withdraw(acquire_operation& operation) noexcept;

  // Submits the operation again after a pause; without memory a little later.
  void delay(acquire_ptr operation, std::chrono::nanoseconds pause) noexcept;
  void delay(release_ptr operation, std::chrono::nanoseconds pause) noexcept;

  // The lease for new requests. Acquires are handed out only while the client has one, and batch::lease is the one
  // that they go on.
  void use_lease(std::shared_ptr<client_layer::lease> made) noexcept;
  // That lease is over. Returns false if another one is in use, or none.
  bool drop_lease(const client_layer::lease& over) noexcept;
  // Null: there is none, or it is past its deadline.
  std::shared_ptr<client_layer::lease> lease() const;
  // The same, but also one that is past its deadline and has not been dropped yet.
  std::shared_ptr<client_layer::lease> lease_in_use() const {
    const model::annotated_lock lock{mutex_};
    return lease_;
  }

  // While there is no lease: why none could be made. use_lease() forgets it.
  void note_no_lease(std::exception_ptr failure) noexcept;
  // The latest such failure, if it came after that time. Null: the lease is still being made, or there is one.
  std::exception_ptr why_no_lease(instant since) const noexcept;

  // Waits for the next batch of that role. Empty: the queue was stopped, and nothing is left that may run. If
  // is_connected() says that the worker is not connected while another one is, this returns at once with
  // batch::must_connect.
  batch take(worker_role role, const std::function<bool()>& is_connected = {});
  // A batch of this one request, for a caller that sends it itself. Empty if others wait before it, its name
  // is in another batch, or there is no lease for an acquire.
  batch alone(const acquire_ptr& operation);
  batch alone(const release_ptr& operation);
  // Frees the batch's names for other batches.
  void finish(const batch& done) noexcept;

  // Fails the acquires that have not been sent: all of them, or those that do not wait. Returns how many.
  std::size_t fail_acquires(const std::exception_ptr& failure, bool also_waiting) noexcept;
  // Fails the tasks that wait for a connection.
  void fail_tasks(const std::exception_ptr& failure) noexcept;

  // The hold ids of all operations that are not over.
  ids_in_use& ids() noexcept { return ids_; }
  // Marks the id of a request as in use. Call it for a request that has a new id, or is sent without being
  // submitted.
  void mark(acquire_operation& operation) {
    if (!operation.answer.in_use.is_of(operation.hold)) operation.answer.in_use = ids_.use(operation.hold);
  }

  // From now on acquires and tasks fail with error(closed); releases are still sent.
  void stop_acquires() noexcept;
  bool is_stopping() const {
    const model::annotated_lock lock{mutex_};
    return stopping_;
  }
  // Delayed releases are dropped; take() returns what is left, then empty batches.
  void stop() noexcept;
  // Waits until nothing is left or under way. False: something was still left at that time.
  bool drain(instant until);

 private:
  // The workers of one role. blocked: other batches have reserved the names of all requests that are left.
  struct side {
    wait_word work;
    std::size_t idle_workers = 0;
    // Of the idle workers, those that are being woken. Many requests may come before such a worker runs; it
    // takes all of them, so they need not wake it again. A worker that wakes by itself counts as one that was
    // woken, so this may be too small, but never too large.
    std::size_t woken_workers = 0;
    std::size_t connected_workers = 0;
    bool blocked = false;
  };

  const side& side_of(worker_role role) const ROWLOCK_REQUIRES(mutex_) {
    if (role == worker_role::fallback) return fallback_;
    return role == worker_role::releases ? releasing_ : acquiring_;
  }
  side& side_of(worker_role role) ROWLOCK_REQUIRES(mutex_) {
    // Not std::as_const(*this): the analysis would take the result for another object.
    return const_cast<side&>(static_cast<const submission_queue*>(this)->side_of(role));
  }
  // Unchecked: sleepers are woken without the mutex.
  wait_word& work_of(worker_role role) ROWLOCK_UNCHECKED { return side_of(role).work; }
  bool is_fallback_needed() const ROWLOCK_REQUIRES(mutex_);
  // The workers that do the work of that role now.
  side& serving(worker_role asked) ROWLOCK_REQUIRES(mutex_);
  bool takes(worker_role role, worker_role asked) const ROWLOCK_REQUIRES(mutex_);
  // Whether a worker of that role sends releases now: not while the fallback worker does.
  bool sends_releases(worker_role role) const ROWLOCK_REQUIRES(mutex_) {
    return takes(role, worker_role::releases) && !is_fallback_needed();
  }
  bool has_work(worker_role role) const ROWLOCK_REQUIRES(mutex_);
  // Whether the caller must wake a worker for what it has added; then it must do so.
  static bool must_wake(side& serves) {
    if (serves.idle_workers == serves.woken_workers) return false;
    ++serves.woken_workers;
    return true;
  }
  // Whether idle workers of that role may find work now that names have become free.
  bool is_worth_a_look(worker_role role) ROWLOCK_REQUIRES(mutex_);
  void wake_all() {
    work_of(worker_role::acquires).wake_all();
    work_of(worker_role::releases).wake_all();
  }
  bool is_over() const ROWLOCK_REQUIRES(mutex_) { return stopped_ && pending_.is_idle(); }
  // Adds the delayed operations that are due, of those that a worker of that role may send.
  void add_delayed(worker_role role) ROWLOCK_REQUIRES(mutex_);
  void add_delayed_releases() ROWLOCK_REQUIRES(mutex_);
  instant next_delayed(worker_role role) const ROWLOCK_REQUIRES(mutex_);
  // Calls add(), and wakes a worker that does the work of that role. False: the queue no longer accepts
  // acquires and tasks, and add() was not called.
  template <class Add>
  bool enter(worker_role role, Add add);
  // Calls add(), and notifies a worker that sends releases, or the fallback worker.
  template <class Add>
  void enter_release(Add add) noexcept;
  // Fills a batch for a worker of that role. False: nothing could be taken.
  bool fill(batch& taken, worker_role role) ROWLOCK_REQUIRES(mutex_);
  template <class Operation>
  batch reserve(const Operation& operation, const std::string& name, std::vector<Operation> batch::*into)
      ROWLOCK_REQUIRES(mutex_);

  // Adds the release now or, without memory, later.
  void add(release_ptr operation) noexcept ROWLOCK_REQUIRES(mutex_);
  void mark(release_operation& operation) {
    const bool is_of_a_hold = operation.purpose == release_operation::aim::release;
    if (is_of_a_hold && !operation.in_use.is_of(operation.hold)) operation.in_use = ids_.use(operation.hold);
  }
  // Call them under no mutex. They withdraw what an acquire may have obtained, unless that ended with a lost
  // lease.
  void fail(acquire_operation& operation, const std::exception_ptr& failure) noexcept;
  void fail(acquire_list acquires, const std::exception_ptr& failure) noexcept {
    for (; !acquires.empty(); acquires.pop()) fail(**acquires.begin(), failure);
  }
  template <class Tasks>
  static void fail_each(const Tasks& tasks, const std::exception_ptr& failure) noexcept {
    for (const auto& task : tasks) task->answer.fail(failure);
  }

  client_environment& environment_;
  keeper_agenda& agenda_;
  ids_in_use ids_;
  mutable model::annotated_mutex mutex_;
  side acquiring_ ROWLOCK_GUARDED_BY(mutex_);  // does everything if roles are not split
  side releasing_ ROWLOCK_GUARDED_BY(mutex_);
  side fallback_ ROWLOCK_GUARDED_BY(mutex_);
  std::condition_variable idle_;
  stoppable_sleep reconnects_{environment_.time};
  pending_operations pending_ ROWLOCK_GUARDED_BY(mutex_);
  std::shared_ptr<client_layer::lease> lease_ ROWLOCK_GUARDED_BY(mutex_);
  std::exception_ptr no_lease_ ROWLOCK_GUARDED_BY(mutex_);  // while lease_ is null
  instant no_lease_since_ ROWLOCK_GUARDED_BY(mutex_){};     // when that was noted
  bool split_ = false;  // as split_roles() says, before any thread uses the queue
  bool stopping_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool stopped_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

inline submission_queue::side& submission_queue::serving(worker_role asked) {
  side& own = split_ ? side_of(asked) : acquiring_;
  if (own.connected_workers > 0) return own;
  side& other = asked == worker_role::releases ? acquiring_ : releasing_;
  return other.connected_workers > 0 ? other : own;
}

// A worker also does the work of a role without a connected worker. After a stop it does so even if its own
// role has none: the worker of the other role may have ended before this one lost its connection.
inline bool submission_queue::takes(worker_role role, worker_role asked) const {
  const bool replaces =
      side_of(asked).connected_workers == 0 && (stopped_ || side_of(role).connected_workers > 0);
  return role == worker_role::everything || role == asked || replaces;
}

// Whether the fallback worker sends releases now. Not after a stop: it ends with the lease.
inline bool submission_queue::is_fallback_needed() const {
  return !stopped_ && fallback_.connected_workers > 0 &&
         acquiring_.connected_workers + releasing_.connected_workers == 0;
}

inline bool submission_queue::has_work(worker_role role) const {
  const bool acquires = ((lease_ && pending_.has_acquires()) || pending_.has_background()) &&
                        takes(role, worker_role::acquires);
  const bool tasks = pending_.has_tasks() && takes(role, worker_role::releases);
  return acquires || tasks || (pending_.has_releases() && sends_releases(role));
}

}  // namespace rowlock::client_layer
