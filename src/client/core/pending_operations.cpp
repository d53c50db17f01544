#include "client/core/pending_operations.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace rowlock::client_layer {

namespace {

// In larger batches the statement's own time outweighs the round trips that they save.
constexpr std::size_t batch_limit = 256;
// Each joined request is decided while the row is locked, and goes through all permits that the edit has
// read.
constexpr std::size_t joined_limit = 64;

const std::string& name_of(const acquire_ptr& operation) {
  return operation->definition.name;
}
const std::string& name_of(const release_ptr& operation) {
  return operation->name;
}

// A sweep without a caller. One of them per name is enough.
bool is_background_sweep(const release_operation& operation) {
  return operation.purpose == release_operation::aim::sweep && !operation.answer;
}

}  // namespace

bool pending_operations::is_needed(const release_operation& operation) {
  return !is_background_sweep(operation) || sweeps_.insert(operation.name).second;
}

void pending_operations::forget_sweep(const release_operation& operation) {
  if (is_background_sweep(operation)) sweeps_.erase(operation.name);
}

template <class Add>
void pending_operations::add_counted(const release_operation& operation, Add add) {
  if (!operation.goes_first) return add();
  ++released_first_[operation.name];
  try {
    add();
  } catch (...) {
    uncount(operation);
    throw;
  }
  acquires_.reserve(operation.name);
}

void pending_operations::uncount(const release_operation& operation) {
  if (!operation.goes_first) return;
  const auto counted = released_first_.find(operation.name);
  if (--counted->second == 0) released_first_.erase(counted);
}

void pending_operations::now_taken(release_operation& operation) {
  operation.stage.taken();
  forget_sweep(operation);
  uncount(operation);
}

void pending_operations::add(const acquire_ptr& operation) {
  line_up(operation);
  operation->stage.submitted();
}

void pending_operations::add(const release_ptr& operation) {
  if (line_up(operation)) operation->stage.submitted();
}

void pending_operations::line_up(const acquire_ptr& operation) {
  const auto& name = name_of(operation);
  acquires_.add(name, operation, must_wait(name), true);
}

bool pending_operations::line_up(const release_ptr& operation) {
  if (!is_needed(*operation)) {
    if (operation->hastens) delayed_releases_.hasten(operation->name, instant{});
    return false;
  }
  try {
    enter(operation);
  } catch (...) {
    forget_sweep(*operation);
    throw;
  }
  return true;
}

void pending_operations::enter(const release_ptr& operation) {
  const auto& name = name_of(operation);
  add_counted(*operation,
              [&] { releases_.add(name, operation, reserved_.contains(name), operation->frees_a_hold()); });
}

bool pending_operations::delay(const release_ptr& operation, instant until) {
  if (!is_needed(*operation)) return operation->hastens && delayed_releases_.hasten(operation->name, until);
  try {
    delayed_releases_.add(operation, until);
  } catch (...) {
    forget_sweep(*operation);
    throw;
  }
  operation->stage.submitted();
  return true;
}

void pending_operations::postpone(acquire_ptr operation, instant now) noexcept {
  operation->stage.submitted();
  postpone_again(std::move(operation), now);
}

void pending_operations::postpone(release_ptr operation, instant now) noexcept {
  operation->stage.submitted();
  postpone_again(std::move(operation), now);
}

void pending_operations::postpone_again(acquire_ptr operation, instant now) noexcept {
  postponed_acquires_.push(std::move(operation));
  plan_postponed(now);
}

void pending_operations::postpone_again(release_ptr operation, instant now) noexcept {
  postponed_releases_.push(std::move(operation));
  plan_postponed(now);
}

instant pending_operations::next_delayed_acquire() const {
  const auto first = [](const auto& delayed) {
    return delayed.empty() ? instant::max() : delayed.begin()->first;
  };
  const auto postponed = postponed_acquires_.empty() ? instant::max() : postponed_until_;
  return std::min({first(delayed_acquires_), first(delayed_tasks_), postponed});
}

instant pending_operations::next_delayed_release() const {
  const auto postponed = postponed_releases_.empty() ? instant::max() : postponed_until_;
  return std::min(delayed_releases_.next(), postponed);
}

bool pending_operations::is_idle() const {
  return releases_.empty() && tasks_.empty() && background_.empty() && delayed_acquires_.empty() &&
         delayed_tasks_.empty() && delayed_releases_.empty() && postponed_acquires_.empty() &&
         postponed_releases_.empty() && under_way_ == 0;
}

// Takes the requests at the front of the name's line that one edit may decide together with those that were
// taken before. A request that may not join closes its name for the requests behind it.
template <class Operation>
void pending_operations::join(const std::string& name, name_lines<Operation>& from,
                              std::vector<Operation>& to, batch& into) {
  auto& count = into.open.at(name);
  while (to.size() < batch_limit && count < joined_limit) {
    const auto at = from.find(name);
    if (!at) return;
    auto& next = *name_lines<Operation>::front(at);
    if (!next.joins() || next.retry.goes_alone() || goes_behind_releases(next)) {
      into.open.erase(name);
      return;
    }
    into.joined.insert(name);
    to.emplace_back();
    ++count;
    now_taken(next);
    to.back() = from.take(at);
  }
}

// A request that must be sent alone is taken only into an empty batch.
template <class Operation>
void pending_operations::take_distinct(name_lines<Operation>& from, std::vector<Operation>& to, batch& into) {
  if (into.alone) return;
  const auto open = into.open;
  for (const auto& [name, count] : open) join(name, from, to, into);
  typename name_lines<Operation>::place passed = nullptr;
  while (to.size() < batch_limit && !into.alone) {
    const auto at = from.next(passed);
    if (!at) return;
    auto& next = *name_lines<Operation>::front(at);
    const bool alone = next.retry.goes_alone();
    if (alone && !into.empty()) {
      passed = at;
      continue;
    }
    const std::string name = at->first;
    const bool joins = next.joins() && !alone;
    to.emplace_back();
    try {
      static_cast<void>(reserve(name, into));  // it succeeds: next() returns no reserved name
    } catch (...) {
      to.pop_back();
      throw;
    }
    into.alone = alone;
    now_taken(next);
    to.back() = from.take(at);
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

void pending_operations::take_first(task_list& from, batch& into) {
  std::unordered_set<std::string_view> names;
  bool is_shared = true;  // the edit of the batch
  for (const auto& task : into.tasks) {
    if (task->edits.empty()) continue;
    names.insert(task->edits);
    is_shared = is_shared && !task->alone;
  }
  const auto joins = [&](const task_operation& task) {
    return is_shared && (names.empty() || !task.alone) && !names.contains(task.edits);
  };
  const auto take = [&](task_list::iterator at) {
    if (!(*at)->edits.empty()) names.insert((*at)->edits);
    into.tasks.push_back(*at);
    is_shared = is_shared && !(*at)->alone;
    return from.erase(at);
  };
  auto at = from.begin();
  if (at == from.end()) return;
  const bool edits = !(*at)->edits.empty();
  if (edits && !joins(**at)) return;
  at = take(at);
  if (!edits) return;
  for (std::size_t seen = 1; at != from.end() && seen < batch_limit && names.size() < joined_limit; ++seen) {
    at = !(*at)->edits.empty() && joins(**at) ? take(at) : std::next(at);
  }
}

bool pending_operations::reserve(const std::string& name, batch& into) {
  if (reserved_.contains(name)) return false;
  into.names.push_back(name);
  try {
    reserved_.insert(name);
  } catch (...) {
    into.names.pop_back();
    throw;
  }
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
    if (!is_released_first(name)) acquires_.free(name);
    releases_.free(name);
  }
  --under_way_;
}

void pending_operations::put_back(batch& work, instant now) noexcept {
  const auto to_the_front = [this, now](auto& lines, auto& taken, const auto& counted) {
    for (auto one = taken.rbegin(); one != taken.rend(); ++one) {
      try {
        counted(**one, [&] { lines.put_back(name_of(*one), *one, reserved_.contains(name_of(*one))); });
        (*one)->stage.submitted();
      } catch (...) {
        postpone(std::move(*one), now);
      }
    }
    taken.clear();
  };
  to_the_front(acquires_, work.acquires, [](const auto&, const auto& add) { add(); });
  to_the_front(releases_, work.releases, [this](const auto& one, const auto& add) { add_counted(one, add); });
  for (; !work.tasks.empty(); work.tasks.pop_back()) {
    try {
      tasks_.push_front(work.tasks.back());
    } catch (...) {
      return;
    }
  }
}

acquire_list pending_operations::remove_acquires(const std::exception_ptr& failure,
                                                 bool also_waiting) noexcept {
  const auto goes = [&](const acquire_ptr& operation) {
    operation->note_failure(failure);
    return also_waiting || !operation->wait;
  };
  acquire_list removed;
  const auto remove = [&](acquire_ptr operation) {
    operation->stage.taken();
    removed.push(std::move(operation));
  };
  acquires_.remove_if(goes, remove);
  auto postponed = std::move(postponed_acquires_);
  while (!postponed.empty()) {
    auto one = postponed.pop();
    goes(one) ? remove(std::move(one)) : postponed_acquires_.push(std::move(one));
  }
  for (auto at = delayed_acquires_.begin(); at != delayed_acquires_.end();) {
    if (!goes(at->second)) {
      ++at;
      continue;
    }
    remove(std::move(at->second));
    at = delayed_acquires_.erase(at);
  }
  return removed;
}

task_list pending_operations::remove_tasks() noexcept {
  return std::exchange(tasks_, {});
}

task_list pending_operations::remove_background() noexcept {
  auto removed = std::exchange(background_, {});
  for (auto& [until, task] : delayed_tasks_) removed.splice(removed.end(), task);
  delayed_tasks_.clear();
  return removed;
}

release_list pending_operations::drop_delayed() noexcept {
  auto releases = std::move(postponed_releases_);
  while (!delayed_releases_.empty()) {
    for (auto& one : delayed_releases_.take_next()) releases.push(std::move(one));
  }
  for (const auto& one : releases) one->stage.taken();
  postponed_acquires_ = {};
  delayed_acquires_.clear();
  delayed_tasks_.clear();
  return releases;
}

}  // namespace rowlock::client_layer
