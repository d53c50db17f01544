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

void pending_operations::add(release_ptr operation) {
  if (is_needed(*operation)) releases_.push_back(std::move(operation));
}

void pending_operations::delay(release_ptr operation, instant until) {
  if (is_needed(*operation)) delayed_.emplace(until, delayed{.release = std::move(operation)});
}

void pending_operations::delay(task_ptr operation, instant until) {
  delayed_.emplace(until, delayed{.task = std::move(operation)});
}

pending_operations::due pending_operations::add_delayed(instant now) {
  due added;
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto [acquire, release, task] = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    added.acquiring = added.acquiring || acquire || task;
    added.releasing = added.releasing || release;
    if (acquire) acquires_.push_back(std::move(acquire));
    if (task) background_.push_back(std::move(task));
    if (release) releases_.push_back(std::move(release));
  }
  return added;
}

bool pending_operations::is_idle() const {
  return releases_.empty() && tasks_.empty() && background_.empty() && delayed_.empty() && under_way_ == 0;
}

// A request that may not join closes its name for the requests behind it. A request to be sent alone is taken only
// if it is the first.
template <class Operation>
void pending_operations::take_distinct(std::deque<Operation>& from, std::vector<Operation>& to, batch& into) {
  std::size_t kept = 0;
  std::size_t at = 0;
  for (; at < from.size() && to.size() < batch_limit && !into.alone; ++at) {
    const auto& name = name_of(from[at]);
    const bool alone = from[at]->retry.goes_alone();
    const bool joins = from[at]->joins() && !alone;
    if (alone && !into.empty()) {
      into.open.erase(name);
      std::swap(from[kept++], from[at]);
    } else if (reserved_.insert(name).second) {
      into.names.push_back(name);
      if (joins) into.open.emplace(name, 1);
      into.alone = alone;
      now_taken(*from[at]);
      to.push_back(std::move(from[at]));
    } else if (const auto others = into.open.find(name);
               joins && others != into.open.end() && others->second < joined_limit) {
      into.joined.insert(name);
      ++others->second;
      now_taken(*from[at]);
      to.push_back(std::move(from[at]));
    } else {
      into.open.erase(name);
      std::swap(from[kept++], from[at]);
    }
  }
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(kept),
             from.begin() + static_cast<std::ptrdiff_t>(at));
}

template void pending_operations::take_distinct(std::deque<acquire_ptr>&, std::vector<acquire_ptr>&, batch&);
template void pending_operations::take_distinct(std::deque<release_ptr>&, std::vector<release_ptr>&, batch&);

void pending_operations::take_tasks(batch& into) {
  std::ranges::move(tasks_, std::back_inserter(into.tasks));
  tasks_.clear();
}

void pending_operations::take_background(batch& into) {
  if (background_.empty()) return;
  into.tasks.push_back(std::move(background_.front()));
  background_.pop_front();
}

bool pending_operations::reserve(const std::string& name, batch& into) {
  if (!reserved_.insert(name).second) return false;
  into.names.push_back(name);
  return true;
}

void pending_operations::begin() {
  ++under_way_;
}

void pending_operations::finish(const batch& done) {
  for (const auto& name : done.names) reserved_.erase(name);
  --under_way_;
}

void pending_operations::put_back(batch& work) {
  const auto to_the_front = [](auto& queue, auto& taken) {
    queue.insert(queue.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  };
  to_the_front(acquires_, work.acquires);
  to_the_front(releases_, work.releases);
  to_the_front(tasks_, work.tasks);
}

std::vector<acquire_ptr> pending_operations::remove_acquires(const std::exception_ptr& failure,
                                                             bool also_waiting) {
  const auto goes = [&](const acquire_ptr& operation) { return also_waiting || !operation->wait; };
  std::vector<acquire_ptr> removed;
  for (const auto& operation : acquires_) {
    operation->note_failure(failure);
    if (goes(operation)) removed.push_back(operation);
  }
  std::erase_if(acquires_, goes);
  for (auto at = delayed_.begin(); at != delayed_.end();) {
    const auto& operation = at->second.acquire;
    if (operation) operation->note_failure(failure);
    if (operation && goes(operation)) {
      removed.push_back(operation);
      at = delayed_.erase(at);
    } else {
      ++at;
    }
  }
  return removed;
}

std::deque<task_ptr> pending_operations::remove_tasks() {
  return std::exchange(tasks_, {});
}

std::deque<task_ptr> pending_operations::remove_background() {
  auto removed = std::exchange(background_, {});
  for (auto at = delayed_.begin(); at != delayed_.end();) {
    if (!at->second.task) {
      ++at;
      continue;
    }
    removed.push_back(std::move(at->second.task));
    at = delayed_.erase(at);
  }
  return removed;
}

std::vector<release_ptr> pending_operations::drop_delayed() {
  std::vector<release_ptr> releases;
  for (auto& [until, operation] : std::exchange(delayed_, {})) {
    if (operation.release) releases.push_back(std::move(operation.release));
  }
  return releases;
}

}  // namespace rowlock::client_layer
