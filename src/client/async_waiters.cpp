#include "client/async_waiters.hpp"

#include <utility>
#include <vector>

namespace rowlock::client_layer {

bool async_waiters::add(std::shared_ptr<async_wait> wait, std::optional<instant> until) {
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  const auto* const key = wait.get();
  if (until) deadlines_.emplace(*until, key);
  waiting_.emplace(key, seat{std::move(wait), until});
  return true;
}

void async_waiters::set_deadline(const async_wait& wait, instant until) {
  const model::annotated_lock lock{mutex_};
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return;
  auto& before = found->second.until;
  if (before) deadlines_.erase({*before, &wait});
  before = until;
  deadlines_.emplace(until, &wait);
}

std::shared_ptr<async_wait> async_waiters::take(const async_wait& wait) {
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return nullptr;
  auto taken = std::move(found->second);
  waiting_.erase(found);
  if (taken.until) deadlines_.erase({*taken.until, &wait});
  return std::move(taken.wait);
}

void async_waiters::settled(const async_wait& wait) {
  {
    const model::annotated_lock lock{mutex_};
    auto taken = take(wait);
    if (!taken) return;  // abandoned meanwhile
    calls_.push_back([settled = std::move(taken)] { settled->tell(); });
  }
  changed_.notify_one();
}

void async_waiters::remove(const async_wait& wait) {
  std::shared_ptr<async_wait> removed;  // outlives the lock
  {
    const model::annotated_lock lock{mutex_};
    removed = take(wait);
  }
  changed_.notify_one();
}

void async_waiters::post(std::function<void()> call) {
  {
    const model::annotated_lock lock{mutex_};
    if (!over_) {
      calls_.push_back(std::move(call));
      changed_.notify_one();
      return;
    }
  }
  call();
}

std::optional<instant> async_waiters::end_overdue(instant now) {
  std::vector<std::shared_ptr<async_wait>> overdue;
  std::optional<instant> next;
  {
    const model::annotated_lock lock{mutex_};
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      overdue.push_back(waiting_.at(deadlines_.begin()->second).wait);
      deadlines_.erase(deadlines_.begin());
    }
    if (!deadlines_.empty()) next = deadlines_.begin()->first;
  }
  for (const auto& wait : overdue) wait->give_up();
  return next;
}

void async_waiters::run() {
  model::annotated_lock lock{mutex_};
  for (;;) {
    changed_.wait(
        lock, [&]() ROWLOCK_REQUIRES(mutex_) { return !calls_.empty() || (closed_ && waiting_.empty()); });
    if (calls_.empty()) {
      over_ = true;
      return;
    }
    auto next = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

void async_waiters::close() {
  std::vector<std::shared_ptr<async_wait>> left;
  {
    const model::annotated_lock lock{mutex_};
    closed_ = true;
    for (const auto& [key, one] : waiting_) left.push_back(one.wait);
  }
  changed_.notify_one();
  for (const auto& wait : left) wait->refuse();
}

}  // namespace rowlock::client_layer
