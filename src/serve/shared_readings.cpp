#include "serve/shared_readings.hpp"

#include <rowlock/error.hpp>

#include <utility>

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
constexpr std::size_t many_entries = 64;

}  // namespace

void shared_readings::answer(const std::string& key, std::chrono::milliseconds valid_for,
                             std::function<response()> read, const reply& to) {
  {
    const model::annotated_lock lock{mutex_};
    const auto now = clock::now();
    forget_old_locked(now);
    auto& one = entries_[key];
    if (!one.is_reading && now < one.valid_until) return to.send(one.latest);
    one.waiting.push_back(to);
    if (one.is_reading) return;
    const bool is_posted = pool_.post([this, key, valid_for, read = std::move(read)] {
      const auto found = response_or_error(read);
      publish(key, found, clock::now() + (found.status < 500 ? valid_for : 1s));
    });
    one.is_reading = true;  // not before post(), which may throw
    if (is_posted) return;
  }
  publish(key, error_response(503, "unreachable", "too many requests wait for the database"), {});
}

void shared_readings::publish(const std::string& key, const response& found, clock::time_point valid_until) {
  const model::annotated_lock lock{mutex_};
  auto& one = entries_[key];
  // First what cannot fail: if the memory runs out below, those who wait learn it, and the next one reads again.
  one.is_reading = false;
  const auto waiting = std::exchange(one.waiting, {});
  one.latest = found;
  one.valid_until = valid_until;
  for (const auto& to : waiting) to.send(found);
  if (valid_until <= clock::now()) entries_.erase(key);
}

void shared_readings::forget_old_locked(clock::time_point now) {
  if (entries_.size() < many_entries) return;
  std::erase_if(entries_,
                [&](const auto& one) { return !one.second.is_reading && one.second.valid_until < now; });
}

}  // namespace rowlock::serve
