// The requests that a client has submitted and no worker has taken yet. Forms the batches. A name is in one
// batch at a time, so a process never waits for its own row locks. Within a batch a name occurs once, except
// for requests that one edit decides together.
#pragma once

#include "client/base/backoff.hpp"
#include "client/base/linked_list.hpp"
#include "client/base/time_source.hpp"
#include "client/core/delayed_releases.hpp"
#include "client/core/name_lines.hpp"
#include "client/core/operation.hpp"
#include "model/annotated_mutex.hpp"

#include <list>
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
using acquire_list = linked_list<acquire_operation>;
using release_list = linked_list<release_operation>;
using task_list = std::list<task_ptr>;

struct batch {
  std::vector<acquire_ptr> acquires;
  std::vector<release_ptr> releases;       // names are distinct across both, except:
  std::unordered_set<std::string> joined;  // names of several requests that one edit decides
  std::vector<task_ptr> tasks;
  std::shared_ptr<client_layer::lease> lease;  // on which the acquires go
  std::vector<std::string> names;              // reserved until finish()
  bool must_connect = false;  // it is empty, because the worker must connect before it takes work
  bool alone = false;         // one request, which must be sent by itself
  // While the batch is formed: the names that more requests may join, and how many have.
  std::unordered_map<std::string, std::size_t> open;

  bool empty() const { return acquires.empty() && releases.empty() && tasks.empty(); }
};

// Not thread-safe: submission_queue guards it with its mutex. If memory runs out in add(), delay(), take_…()
// or reserve(), what was not added or taken stays where it was. The other functions allocate nothing.
class pending_operations {
 public:
  void add(const acquire_ptr& operation);
  // The release of a hold goes before what else waits for its name, because others may wait for the lock. While one with
  // release_operation::goes_first waits here, no batch takes an acquire of its name.
  void add(const release_ptr& operation);
  void add(const task_ptr& operation) { tasks_.push_back(operation); }
  // For an operation for which there was no memory in add() or delay(): it stays here until a later try
  // succeeds.
  void postpone(acquire_ptr operation, instant now) noexcept;
  void postpone(release_ptr operation, instant now) noexcept;
  // Calls add(), and postpones the operation if that throws. Unchecked: add() may require the mutex that the
  // caller has locked.
  template <class Operation, class Add>
  void keep(const Operation& operation, instant now, Add add) noexcept ROWLOCK_UNCHECKED {
    try {
      add();
    } catch (...) {
      postpone(operation, now);
    }
  }

  // Adds the operation at that time. A delayed task is a background task: it must not delay releases.
  void delay(const acquire_ptr& operation, instant until) {
    delayed_acquires_.emplace(until, operation);
    operation->stage.submitted();
  }
  // Returns false if a background sweep of that name is waiting already and comes no later, which is enough.
  bool delay(const release_ptr& operation, instant until);
  void delay(const task_ptr& operation, instant until) {
    delayed_tasks_.emplace(until, task_list{operation});
  }
  instant next_delayed_acquire() const;  // or background task
  instant next_delayed_release() const;
  // Add what is due, and what was postponed. Return whether anything was due. mark(operation) prepares a
  // postponed operation, and may throw.
  template <class Mark>
  bool add_delayed_acquires(instant now, Mark mark);
  template <class Mark>
  bool add_delayed_releases(instant now, Mark mark);
  bool add_delayed_acquires(instant now) { return add_delayed_acquires(now, unmarked); }
  bool add_delayed_releases(instant now) { return add_delayed_releases(now, unmarked); }

  bool has_acquires() const { return !acquires_.empty(); }
  bool has_releases() const { return !releases_.empty(); }
  bool has_tasks() const { return !tasks_.empty(); }
  bool has_background() const { return !background_.empty(); }
  // True if no batch is under way, and nothing is left but acquires that are neither delayed nor postponed.
  bool is_idle() const;

  // Each takes what it can into the batch and reserves the names. A request behind another one for its name
  // stays, unless one edit may decide both.
  void take_acquires(batch& into);
  // Whether an acquire that must be sent alone has waited for a batch to which others came first.
  bool has_passed_over() const { return passed_over_; }
  void take_releases(batch& into);
  // Each takes at most one task, which may last as long as a statement may: releases that come meanwhile wait
  // for the task. An edit_task counts as one together with others about other locks, which share its edit.
  void take_task(batch& into) { take_first(tasks_, into); }
  void take_background(batch& into) { take_first(background_, into); }
  // Reserves a name for the batch, also that of an operation that was never added. False: a batch has
  // reserved it.
  [[nodiscard]] bool reserve(const std::string& name, batch& into);
  // Whether a release that goes before acquires of that name has not been taken yet.
  bool is_released_first(const std::string& name) const { return released_first_.contains(name); }
  // A batch that was formed is under way until finish(), which frees its names for other batches.
  void begin();
  void finish(const batch& done);
  // Puts a batch before all others. Its names stay reserved until finish(). Tasks for which there is no memory are left
  // in the batch.
  void put_back(batch& work, instant now = {}) noexcept;

  // Removes acquires, including delayed ones: all of them, or those that do not wait. Those that stay also note the
  // failure.
  acquire_list remove_acquires(const std::exception_ptr& failure, bool also_waiting) noexcept;
  task_list remove_tasks() noexcept;
  task_list remove_background() noexcept;  // delayed ones included
  // Drops all delayed and postponed operations. Returns the releases among them.
  release_list drop_delayed() noexcept;

 private:
  static constexpr auto unmarked = [](const auto&) {};
  // False: a background sweep of the name is already waiting, which is enough.
  bool is_needed(const release_operation& operation);
  // As add(), for an operation that may be in here already, delayed or postponed. False: the release is not needed.
  void line_up(const acquire_ptr& operation);
  bool line_up(const release_ptr& operation);
  // Adds a release that is needed.
  void enter(const release_ptr& operation);
  // As postpone(), for an operation that is in here already.
  void postpone_again(acquire_ptr operation, instant now) noexcept;
  void postpone_again(release_ptr operation, instant now) noexcept;
  void plan_postponed(instant now) noexcept { postponed_until_ = now + postponed_pause_.next(); }
  template <class Operation, class Mark>
  void add_postponed(linked_list<Operation>& from, instant now, Mark mark) noexcept;
  bool must_wait(const std::string& name) const {
    return reserved_.contains(name) || is_released_first(name);
  }
  void forget_sweep(const release_operation& operation);
  // Whether releases of the name that wait here go before the operation.
  bool goes_behind_releases(const acquire_operation& operation) const {
    return is_released_first(operation.definition.name);
  }
  static bool goes_behind_releases(const release_operation&) { return false; }
  // Calls add() for a release, and counts the release if it goes before acquires of its name.
  template <class Add>
  void add_counted(const release_operation& operation, Add add);
  void uncount(const release_operation& operation);
  void now_taken(acquire_operation& operation) { operation.stage.taken(); }
  void now_taken(release_operation& operation);
  template <class Operation>
  void take_distinct(name_lines<Operation>& from, std::vector<Operation>& to, batch& into);
  template <class Operation>
  void join(const std::string& name, name_lines<Operation>& from, std::vector<Operation>& to, batch& into);
  static void take_first(task_list& from, batch& into);

  name_lines<acquire_ptr> acquires_;
  name_lines<release_ptr> releases_;
  task_list tasks_;
  task_list background_;
  std::multimap<instant, acquire_ptr> delayed_acquires_;
  std::multimap<instant, task_list> delayed_tasks_;  // each list has one task
  delayed_releases delayed_releases_;
  acquire_list postponed_acquires_;
  release_list postponed_releases_;
  backoff postponed_pause_ = reconnect_pause();
  instant postponed_until_{};
  std::unordered_set<std::string> reserved_;
  std::unordered_set<std::string> sweeps_;  // names with a background sweep that has not begun
  // How many releases of a name, which were added and not taken yet, go before its acquires.
  std::unordered_map<std::string, std::size_t> released_first_;
  std::size_t under_way_ = 0;
  bool passed_over_ = false;
};

template <class Operation, class Mark>
void pending_operations::add_postponed(linked_list<Operation>& from, instant now, Mark mark) noexcept {
  auto left = std::move(from);
  while (!left.empty()) {
    auto one = left.pop();
    try {
      mark(*one);
      line_up(one);
    } catch (...) {
      from.push(std::move(one));
    }
  }
  from.empty() ? postponed_pause_.reset() : plan_postponed(now);
}

template <class Mark>
bool pending_operations::add_delayed_acquires(instant now, Mark mark) {
  if (next_delayed_acquire() > now) return false;
  if (!postponed_acquires_.empty() && postponed_until_ <= now) add_postponed(postponed_acquires_, now, mark);
  for (auto at = delayed_acquires_.begin(); at != delayed_acquires_.end() && at->first <= now;) {
    auto one = std::move(at->second);
    at = delayed_acquires_.erase(at);
    try {
      line_up(one);
    } catch (...) {
      postpone_again(std::move(one), now);
    }
  }
  for (auto at = delayed_tasks_.begin(); at != delayed_tasks_.end() && at->first <= now;) {
    background_.splice(background_.end(), at->second);
    at = delayed_tasks_.erase(at);
  }
  return true;
}

template <class Mark>
bool pending_operations::add_delayed_releases(instant now, Mark mark) {
  if (next_delayed_release() > now) return false;
  if (!postponed_releases_.empty() && postponed_until_ <= now) add_postponed(postponed_releases_, now, mark);
  while (delayed_releases_.next() <= now) {
    for (auto& one : delayed_releases_.take_next()) {
      try {
        enter(one);
      } catch (...) {
        forget_sweep(*one);
        postpone_again(std::move(one), now);
      }
    }
  }
  return true;
}

}  // namespace rowlock::client_layer
