#include "client/base/async_waiters.hpp"

#include <utility>

namespace rowlock::client_layer {

bool async_waiters::add(std::shared_ptr<async_wait> wait, std::optional<instant> until) {
  const auto* const key = wait.get();
  deadlines made;
  made.emplace(instant{}, key);
  const model::annotated_lock lock{mutex_};
  if (closed_) return false;
  auto& place = waiting_.try_emplace(key).first->second;
  place.wait = std::move(wait);
  place.no_deadline = made.extract(made.begin());
  if (until) set(place, *until);
  return true;
}

void async_waiters::set(deadline_entry& of, instant until) noexcept {
  of.until = until;
  of.no_deadline.value().first = until;
  deadlines_.insert(std::move(of.no_deadline));
}

void async_waiters::forget_deadline(deadline_entry& of, const async_wait& wait) noexcept {
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

std::shared_ptr<async_wait> async_waiters::take(const async_wait& wait) noexcept {
  const auto found = waiting_.find(&wait);
  if (found == waiting_.end()) return nullptr;
  auto taken = std::move(found->second.wait);
  forget_deadline(found->second, wait);
  waiting_.erase(found);
  return taken;
}

void async_waiters::stop_if_done() noexcept {
  if (closed_ && waiting_.empty()) calls_.stop();
}

void async_waiters::settled(const async_wait& wait) noexcept {
  const model::annotated_lock lock{mutex_};
  auto taken = take(wait);
  if (!taken) return;  // abandoned meanwhile
  // Under this mutex: otherwise the thread could be stopped, and end, before it gets this call.
  calls_.put([&](auto& waiting) { waiting.push(std::move(taken)); });
  stop_if_done();
}

void async_waiters::remove(const async_wait& wait) noexcept {
  std::shared_ptr<async_wait> removed;  // outlives the lock
  const model::annotated_lock lock{mutex_};
  removed = take(wait);
  stop_if_done();
}

void async_waiters::post(std::shared_ptr<executor_call> call) noexcept {
  if (!call || calls_.put([&](auto& waiting) { waiting.push(std::move(call)); })) return;
  call->deliver();
}

// A wait whose time is up has no deadline any more, unless its give_up() sets another one.
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
      overdue = place.wait;
    }
    overdue->give_up();
  }
}

void async_waiters::run() noexcept {
  calls_.run([](const std::shared_ptr<executor_call>& next) { next->deliver(); });
}

void async_waiters::close() noexcept {
  linked_list<async_wait, &async_wait::next_left> left;
  {
    const model::annotated_lock lock{mutex_};
    closed_ = true;
    for (const auto& [key, one] : waiting_) left.push(one.wait);
    stop_if_done();
  }
  while (!left.empty()) left.pop()->refuse();
}

}  // namespace rowlock::client_layer
