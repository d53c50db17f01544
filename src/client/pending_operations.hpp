// The requests that a client has submitted and no worker has taken yet. Forms the batches. A name is in one
// batch at a time, so a process never waits for its own row locks. Within a batch a name occurs once, except
// for requests that one edit decides together.
#pragma once

#include "client/delayed_releases.hpp"
#include "client/name_lines.hpp"
#include "client/operation.hpp"
#include "client/time_source.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace rowlock::client_layer {

using acquire_ptr = std::shared_ptr<acquire_operation>;
using release_ptr = std::shared_ptr<release_operation>;
using task_ptr = std::shared_ptr<task_operation>;

struct batch {
  std::vector<acquire_ptr> acquires;
  std::vector<release_ptr> releases;       // names are distinct across both, except:
  std::unordered_set<std::string> joined;  // names of several requests that one edit decides
  std::vector<task_ptr> tasks;
  std::vector<std::string> names;  // reserved until finish()
  bool must_connect = false;       // it is empty, and the queue has not been stopped
  bool alone = false;              // one request, which must be sent by itself
  // While the batch is formed: the names that more requests may join, and how many have.
  std::unordered_map<std::string, std::size_t> open;

  bool empty() const { return acquires.empty() && releases.empty() && tasks.empty(); }
};

// Not thread-safe: submission_queue guards it with its mutex.
class pending_operations {
 public:
  void add(const acquire_ptr& operation);
  // The release of a hold goes before what else waits for its name, because others may wait for the lock.
  void add(const release_ptr& operation);
  void add(const task_ptr& operation) { tasks_.push_back(operation); }

  // Adds the operation at that time. A delayed task is a background task: it must not delay releases.
  void delay(const acquire_ptr& operation, instant until) { delayed_acquires_.emplace(until, operation); }
  void delay(const release_ptr& operation, instant until);
  void delay(const task_ptr& operation, instant until) { delayed_tasks_.emplace(until, operation); }
  instant next_delayed_acquire() const;  // or background task
  instant next_delayed_release() const { return delayed_releases_.next(); }
  // Add what is due. True: there was something.
  bool add_delayed_acquires(instant now);
  bool add_delayed_releases(instant now);

  bool has_acquires() const { return !acquires_.empty(); }
  bool has_releases() const { return !releases_.empty(); }
  bool has_tasks() const { return !tasks_.empty(); }
  bool has_background() const { return !background_.empty(); }
  // True if only acquires are left, and no batch is under way.
  bool is_idle() const;

  // Each takes what it can into the batch and reserves the names. A request behind another one for its name stays.
  void take_acquires(batch& into);
  // Whether an acquire that must be sent alone has waited for a batch to which others came first.
  bool has_passed_over() const { return passed_over_; }
  void take_releases(batch& into);
  // Each takes one at most, which may take as long as a statement may: releases that come meanwhile wait for it.
  void take_task(batch& into) { take_one(tasks_, into); }
  void take_background(batch& into) { take_one(background_, into); }
  // Reserves the name of an operation that was never added. False: another batch has reserved it.
  bool reserve(const std::string& name, batch& into);
  // A batch that was formed is under way until finish(), which frees its names for other batches.
  void begin();
  void finish(const batch& done);
  // Puts a batch before all others. Its names stay reserved until finish().
  void put_back(batch& work);

  // Removes acquires, including delayed ones: all of them, or those that do not wait. Those that stay also note the
  // failure.
  std::vector<acquire_ptr> remove_acquires(const std::exception_ptr& failure, bool also_waiting);
  std::deque<task_ptr> remove_tasks();
  std::deque<task_ptr> remove_background();  // delayed ones included
  // Drops all delayed operations. Returns the releases among them.
  std::vector<release_ptr> drop_delayed();

 private:
  // False: a background sweep of the name is already waiting, which is enough.
  bool is_needed(const release_operation& operation);
  // Adds a release that is needed.
  void enter(const release_ptr& operation);
  void now_taken(const acquire_operation&) {}
  void now_taken(const release_operation& operation);
  template <class Operation>
  void take_distinct(name_lines<Operation>& from, std::vector<Operation>& to, batch& into);
  template <class Operation>
  void join(const std::string& name, name_lines<Operation>& from, std::vector<Operation>& to, batch& into);
  static void take_one(std::deque<task_ptr>& from, batch& into);

  name_lines<acquire_ptr> acquires_;
  name_lines<release_ptr> releases_;
  std::deque<task_ptr> tasks_;
  std::deque<task_ptr> background_;
  std::multimap<instant, acquire_ptr> delayed_acquires_;
  std::multimap<instant, task_ptr> delayed_tasks_;
  delayed_releases delayed_releases_;
  std::unordered_set<std::string> reserved_;
  std::unordered_set<std::string> sweeps_;  // names with a background sweep that has not begun
  std::size_t under_way_ = 0;
  bool passed_over_ = false;
};

}  // namespace rowlock::client_layer
