#include "client/pending_operations.hpp"

#include <algorithm>
#include <iterator>
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

// A sweep without a caller. One of them per name is enough.
bool is_background_sweep(const release_operation& operation) {
  return operation.purpose == release_operation::aim::sweep && !operation.answer &&
         !operation.is_pending_sweep;
}

}  // namespace

bool pending_operations::is_needed(const release_operation& operation) {
  return !is_background_sweep(operation) || sweeps_.insert(operation.name).second;
}

void pending_operations::now_taken(const release_operation& operation) {
  if (is_background_sweep(operation)) sweeps_.erase(operation.name);
}

void pending_operations::add(const acquire_ptr& operation) {
  const auto& name = name_of(operation);
  acquires_.add(name, operation, reserved_.contains(name), true);
}

void pending_operations::add(const release_ptr& operation) {
  if (is_needed(*operation)) enter(operation);
}

void pending_operations::enter(const release_ptr& operation) {
  const auto& name = name_of(operation);
  releases_.add(name, operation, reserved_.contains(name), operation->frees_a_hold());
}

void pending_operations::delay(const release_ptr& operation, instant until) {
  if (is_needed(*operation)) delayed_releases_.add(operation, until);
}

instant pending_operations::next_delayed_acquire() const {
  const auto first = [](const auto& delayed) {
    return delayed.empty() ? instant::max() : delayed.begin()->first;
  };
  return std::min(first(delayed_acquires_), first(delayed_tasks_));
}

bool pending_operations::add_delayed_acquires(instant now) {
  const auto add_due = [now](auto& delayed, auto add_one) {
    const auto end = delayed.upper_bound(now);
    for (auto at = delayed.begin(); at != end; at = delayed.erase(at)) add_one(at->second);
  };
  if (next_delayed_acquire() > now) return false;
  add_due(delayed_acquires_, [this](const acquire_ptr& one) { add(one); });
  add_due(delayed_tasks_, [this](const task_ptr& one) { background_.push_back(one); });
  return true;
}

bool pending_operations::add_delayed_releases(instant now) {
  if (next_delayed_release() > now) return false;
  while (next_delayed_release() <= now) {
    for (const auto& one : delayed_releases_.take_next()) enter(one);
  }
  return true;
}

bool pending_operations::is_idle() const {
  return releases_.empty() && tasks_.empty() && background_.empty() && delayed_acquires_.empty() &&
         delayed_tasks_.empty() && delayed_releases_.empty() && under_way_ == 0;
}

// Takes those at the front of the name's line that one edit may decide together with those that were taken before. A
// request that may not join closes its name for the requests behind it.
template <class Operation>
void pending_operations::join(const std::string& name, name_lines<Operation>& from,
                              std::vector<Operation>& to, batch& into) {
  auto& count = into.open.at(name);
  while (to.size() < batch_limit && count < joined_limit) {
    const auto at = from.find(name);
    if (!at) return;
    const auto& next = *name_lines<Operation>::front(at);
    if (!next.joins() || next.retry.goes_alone()) {
      into.open.erase(name);
      return;
    }
    into.joined.insert(name);
    ++count;
    now_taken(next);
    to.push_back(from.take(at));
  }
}

// A request to be sent alone is taken only if it is the first.
template <class Operation>
void pending_operations::take_distinct(name_lines<Operation>& from, std::vector<Operation>& to, batch& into) {
  if (into.alone) return;
  const auto open = into.open;
  for (const auto& [name, count] : open) join(name, from, to, into);
  typename name_lines<Operation>::place passed = nullptr;
  while (to.size() < batch_limit && !into.alone) {
    const auto at = from.next(passed);
    if (!at) return;
    const auto& next = *name_lines<Operation>::front(at);
    const bool alone = next.retry.goes_alone();
    if (alone && !into.empty()) {
      passed = at;
      continue;
    }
    const std::string name = at->first;
    const bool joins = next.joins() && !alone;
    reserve(name, into);
    into.alone = alone;
    now_taken(next);
    to.push_back(from.take(at));
    if (!joins) continue;
    into.open.emplace(name, 1);
    join(name, from, to, into);
  }
}

void pending_operations::take_acquires(batch& into) {
  take_distinct(acquires_, into.acquires, into);
  const auto first = acquires_.next();
  passed_over_ = first != nullptr && name_lines<acquire_ptr>::front(first)->retry.goes_alone();
}

void pending_operations::take_releases(batch& into) {
  take_distinct(releases_, into.releases, into);
}

void pending_operations::take_one(std::deque<task_ptr>& from, batch& into) {
  if (from.empty()) return;
  into.tasks.push_back(std::move(from.front()));
  from.pop_front();
}

bool pending_operations::reserve(const std::string& name, batch& into) {
  if (!reserved_.insert(name).second) return false;
  into.names.push_back(name);
  acquires_.reserve(name);
  releases_.reserve(name);
  return true;
}

void pending_operations::begin() {
  ++under_way_;
}

void pending_operations::finish(const batch& done) {
  for (const auto& name : done.names) {
    reserved_.erase(name);
    acquires_.free(name);
    releases_.free(name);
  }
  --under_way_;
}

void pending_operations::put_back(batch& work) {
  const auto to_the_front = [this](auto& lines, const auto& taken) {
    for (auto one = taken.rbegin(); one != taken.rend(); ++one) {
      lines.put_back(name_of(*one), *one, reserved_.contains(name_of(*one)));
    }
  };
  to_the_front(acquires_, work.acquires);
  to_the_front(releases_, work.releases);
  tasks_.insert(tasks_.begin(), work.tasks.begin(), work.tasks.end());
}

std::vector<acquire_ptr> pending_operations::remove_acquires(const std::exception_ptr& failure,
                                                             bool also_waiting) {
  const auto goes = [&](const acquire_ptr& operation) {
    operation->note_failure(failure);
    return also_waiting || !operation->wait;
  };
  auto removed = acquires_.remove_if(goes);
  for (auto at = delayed_acquires_.begin(); at != delayed_acquires_.end();) {
    if (!goes(at->second)) {
      ++at;
      continue;
    }
    removed.push_back(std::move(at->second));
    at = delayed_acquires_.erase(at);
  }
  return removed;
}

std::deque<task_ptr> pending_operations::remove_tasks() {
  return std::exchange(tasks_, {});
}

std::deque<task_ptr> pending_operations::remove_background() {
  auto removed = std::exchange(background_, {});
  for (auto& [until, task] : std::exchange(delayed_tasks_, {})) removed.push_back(std::move(task));
  return removed;
}

std::vector<release_ptr> pending_operations::drop_delayed() {
  std::vector<release_ptr> releases;
  while (!delayed_releases_.empty())
    std::ranges::move(delayed_releases_.take_next(), std::back_inserter(releases));
  delayed_acquires_.clear();
  delayed_tasks_.clear();
  return releases;
}

}  // namespace rowlock::client_layer
