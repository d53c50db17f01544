#include "client/async_waiters.hpp"

#include <utility>
#include <vector>

namespace rowlock::client_layer {

bool async_waiters::add(seat wait) {
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  const auto* const key = wait.get();
  if (const auto until = key->until()) deadlines_.emplace(*until, key);
  waiting_.emplace(key, std::move(wait));
  return true;
}

async_waiters::seat async_waiters::take(const async_wait& wait) {
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return nullptr;
  auto taken = std::move(found->second);
  waiting_.erase(found);
  if (const auto until = wait.until()) deadlines_.erase({*until, &wait});
  return taken;
}

void async_waiters::settled(const async_wait& wait) {
  {
    const model::annotated_lock lock{mutex_};
    calls_.push_back([settled = take(wait)] { settled->tell(); });
  }
  changed_.notify_one();
}

void async_waiters::remove(const async_wait& wait) {
  seat removed;  // outlives the lock
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
  std::vector<seat> overdue;
  std::optional<instant> next;
  {
    const model::annotated_lock lock{mutex_};
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      overdue.push_back(waiting_.at(deadlines_.begin()->second));
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
  std::vector<seat> left;
  {
    const model::annotated_lock lock{mutex_};
    closed_ = true;
    for (const auto& [key, wait] : waiting_) left.push_back(wait);
  }
  changed_.notify_one();
  for (const auto& wait : left) wait->refuse();
}

}  // namespace rowlock::client_layer
