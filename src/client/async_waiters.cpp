#include "client/async_waiters.hpp"

#include <utility>
#include <vector>

namespace rowlock::client_layer {

bool async_waiters::add(std::shared_ptr<async_wait> wait, std::optional<instant> until) {
  const auto* const key = wait.get();
  std::list<call> end;
  end.push_back({std::move(wait), {}});
  deadlines made;
  made.emplace(instant{}, key);
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  auto& place = waiting_.try_emplace(key).first->second;
  place.wait.swap(end);
  place.no_deadline = made.extract(made.begin());
  if (until) set(place, *until);
  return true;
}

void async_waiters::set(seat& of, instant until) noexcept {
  of.until = until;
  of.no_deadline.value().first = until;
  deadlines_.insert(std::move(of.no_deadline));
}

void async_waiters::forget_deadline(seat& of, const async_wait& wait) noexcept {
  if (!of.until) return;
  of.no_deadline = deadlines_.extract({*of.until, &wait});
  of.until.reset();
}

void async_waiters::set_deadline(const async_wait& wait, instant until) noexcept {
  const model::annotated_lock lock{mutex_};
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return;
  forget_deadline(found->second, wait);
  set(found->second, until);
}

std::list<async_waiters::call> async_waiters::take(const async_wait& wait) noexcept {
  std::list<call> taken;
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return taken;
  taken.swap(found->second.wait);
  forget_deadline(found->second, wait);
  waiting_.erase(found);
  return taken;
}

void async_waiters::settled(const async_wait& wait) noexcept {
  {
    const model::annotated_lock lock{mutex_};
    auto taken = take(wait);
    if (taken.empty()) return;  // abandoned meanwhile
    calls_.splice(calls_.end(), taken);
  }
  changed_.notify_one();
}

void async_waiters::remove(const async_wait& wait) noexcept {
  std::list<call> removed;  // outlives the lock
  {
    const model::annotated_lock lock{mutex_};
    removed = take(wait);
  }
  changed_.notify_one();
}

void async_waiters::post(posting made) noexcept {
  auto& posted = made.call_;
  if (posted.empty()) return;
  {
    const model::annotated_lock lock{mutex_};
    if (!over_) {
      calls_.splice(calls_.end(), posted);
      changed_.notify_one();
      return;
    }
  }
  posted.front().run();
}

// A wait whose time is up has no deadline any more, unless it gets another one.
std::optional<instant> async_waiters::end_overdue(instant now) noexcept {
  for (;;) {
    std::shared_ptr<async_wait> overdue;
    {
      const model::annotated_lock lock{mutex_};
      if (deadlines_.empty()) return {};
      const auto [until, wait] = *deadlines_.begin();
      if (until > now) return until;
      auto& place = waiting_.find(wait)->second;
      forget_deadline(place, *wait);
      overdue = place.wait.front().settled;
    }
    overdue->give_up();
  }
}

void async_waiters::call::run() noexcept {
  if (settled) return settled->tell();
  try {
    other();
  } catch (...) {
    // Whoever posted it has caught what it must not lose.
  }
}

void async_waiters::run() noexcept {
  model::annotated_lock lock{mutex_};
  for (;;) {
    changed_.wait(
        lock, [&]() ROWLOCK_REQUIRES(mutex_) { return !calls_.empty() || (closed_ && waiting_.empty()); });
    if (calls_.empty()) {
      over_ = true;
      return;
    }
    std::list<call> next;
    next.splice(next.end(), calls_, calls_.begin());
    lock.unlock();
    next.front().run();
    next.clear();
    lock.lock();
  }
}

void async_waiters::close() noexcept {
  linked_list<async_wait> left;
  {
    const model::annotated_lock lock{mutex_};
    closed_ = true;
    for (const auto& [key, one] : waiting_) left.push(one.wait.front().settled);
  }
  changed_.notify_one();
  while (!left.empty()) left.pop()->refuse();
}

}  // namespace rowlock::client_layer
