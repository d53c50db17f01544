// One queue a client, feeding its workers. While a worker's statement is in flight new requests
// decide_rendezvous, and the next batch carries them all; a lone request waits for nobody. A name is in one
// worker's batch at a time, so that one process never runs into its own row locks. Within a batch it stands
// once, but for requests that go along in one edit.
#pragma once

#include "client/context.hpp"
#include "client/operation.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rowlock::client_layer {

using acquire_ptr = std::shared_ptr<acquire_operation>;
using release_ptr = std::shared_ptr<release_operation>;
using task_ptr = std::shared_ptr<task_operation>;

struct batch {
  std::vector<acquire_ptr> acquires;
  std::vector<release_ptr> releases;       // names distinct across both, but for:
  std::unordered_set<std::string> joined;  // names of several requests, all of which join
  std::vector<task_ptr> tasks;
  std::vector<std::string> names;  // reserved until finish()
  bool must_connect = false;       // empty, and the queue goes on
  bool alone = false;              // one request, which no other may join

  bool empty() const { return acquires.empty() && releases.empty() && tasks.empty(); }
};

// What a worker carries. Acquires wait for the disk and fast releases do not: behind one another, each
// release would wait for a commit that is not its own. The fallback worker borrows the lease's connection,
// and carries releases while no worker is connected.
enum class worker_role : std::uint8_t { everything, acquires, releases, fallback };

// Thread-safe.
class submission_queue {
 public:
  explicit submission_queue(context& shared) : context_(shared) {}

  // Before the first take(): whether there are workers for both roles, or one for everything.
  void split_roles(bool split) { split_ = split; }

  void submit(acquire_ptr operation);
  void submit(release_ptr operation);
  void submit(const std::vector<release_ptr>& operations);  // so that one batch may carry them all
  void submit(task_ptr operation);

  // The workers tell how many of them are connected. What is for a worker_role that no connected worker has,
  // the others take.
  void count_worker(worker_role role, bool connected);
  bool has_connected_worker() const;  // the fallback worker is none
  // Before the first take(): called when there may be something for the fallback worker. Under no lock.
  std::function<void()> on_fallback_due;
  // When the fallback worker has something to carry: releases, while it is connected and no worker is.
  instant fallback_due();
  // A batch of those; does not wait, and is empty where there are none.
  batch take_fallback();
  // A batch that was taken, unchanged, for another worker.
  void put_back(batch work);
  // Lets a worker that is not connected wait. False: the queue was stopped.
  bool sleep(std::chrono::nanoseconds pause);
  // A task that no release must wait for: the workers that acquire carry it, after the pause. False: it
  // fails, for the queue takes no more.
  bool submit_background(const task_ptr& operation, std::chrono::nanoseconds pause = {});

  // Brings an operation back after a pause.
  void delay(acquire_ptr operation, std::chrono::nanoseconds pause);
  void delay(release_ptr operation, std::chrono::nanoseconds pause);

  // Acquires are given out only while the client has a lease.
  void allow_acquires(bool allowed);

  // The next batch of that worker_role; waits for one. Empty: the queue was stopped and nothing is left that
  // may run. is_connected: the worker's; where it says no and another worker is connected, this returns at
  // once with batch::must_connect.
  batch take(worker_role role, const std::function<bool()>& is_connected = {});
  // A batch of this one request, for a caller who carries it himself; empty when others wait before it, its
  // name is under way, or acquires are not allowed.
  batch alone(const acquire_ptr& operation);
  batch alone(const release_ptr& operation);
  // The batch's names may be given out again.
  void finish(const batch& done);

  // Fails those acquires that have not been sent, or only those that would not wait anyway. Returns how many.
  std::size_t fail_acquires(const std::exception_ptr& failure, bool also_waiting);
  // Fails the tasks that wait for a connection.
  void fail_tasks(const std::exception_ptr& failure);

  // The ids of all that has been submitted and is not over.
  ids_in_use& ids() noexcept { return ids_; }
  // A request that has a new id, or is sent without being submitted.
  void mark(acquire_operation& operation);

  // From now on acquires and tasks fail with error(closed); releases are still role.
  void stop_acquires();
  bool is_stopping() const;
  // Releases that cannot be role at once are dropped; take() returns what is left, then empty batches.
  void stop();
  // Waits until nothing is left or under way, or until then.
  bool drain(instant until);

 private:
  struct delayed {
    acquire_ptr acquire;
    release_ptr release;
    task_ptr task{};
  };

  // One side of the queue: who waits for work of it, and whether all that is left is reserved by another
  // worker.
  struct side {
    std::condition_variable work;
    std::size_t idle_workers = 0;
    std::size_t connected_workers = 0;
    bool blocked = false;
  };

  const side& side_of(worker_role role) const {
    if (role == worker_role::fallback) return fallback_;
    return role == worker_role::releases ? releasing_ : acquiring_;
  }
  side& side_of(worker_role role) { return const_cast<side&>(std::as_const(*this).side_of(role)); }
  bool is_fallback_needed() const;
  // Whose workers are to be woken.
  side& serving(worker_role asked);
  bool takes(worker_role role, worker_role asked) const;
  bool has_work(worker_role role) const;
  void wake_all();
  bool is_idle() const;
  void fail_background(const std::exception_ptr& failure);
  void promote_delayed();
  template <class Operation>
  batch reserve(const Operation& operation, std::vector<Operation> batch::*into);
  void now_taken(const acquire_operation&) {}
  void now_taken(const release_operation& operation);
  template <class Operation>
  void take_distinct(std::deque<Operation>& from, std::vector<Operation>& to, batch& into,
                     std::unordered_map<std::string, std::size_t>& open);

  void mark(release_operation& operation);
  // False: a sweep of that name, for which nobody waits either, has not begun yet, and does for both.
  bool is_needed(const release_operation& operation);

  context& context_;
  ids_in_use ids_;
  mutable std::mutex mutex_;
  side acquiring_;  // and everything, where roles are not split
  side releasing_;
  side fallback_;
  std::condition_variable idle_;
  stoppable_sleep reconnects_{context_.time};
  std::deque<acquire_ptr> acquires_;
  std::deque<release_ptr> releases_;
  std::deque<task_ptr> tasks_;
  std::deque<task_ptr> background_;
  std::multimap<instant, delayed> delayed_;
  std::unordered_set<std::string> reserved_;
  std::unordered_set<std::string> sweeps_;  // names with a sweep that nobody waits for and has not begun
  std::size_t under_way_ = 0;
  bool acquires_allowed_ = false;
  bool split_ = false;
  bool stopping_ = false;
  bool stopped_ = false;
};

}  // namespace rowlock::client_layer
