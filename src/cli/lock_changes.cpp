#include "cli/lock_changes.hpp"

#include "cli/holder_text.hpp"

#include <fmt/format.h>

#include <functional>

namespace rowlock::cli {

namespace {

// Everything except what changes only with the time.
std::string fingerprint(const lock_info& lock) {
  auto text = fmt::format("{} {} {} {}", lock.token.value(), lock.in_use, lock.capacity, lock.waiters);
  for (const auto& holder : lock.holders) {
    text += fmt::format(" {} {} {} {}", holder.hold_id.to_string(), holder.weight,
                        !rests(holder) && is_expired(holder), std::hash<std::string>{}(holder.data));
  }
  return lock.request ? text + " " + lock.request->reason : text;
}

}  // namespace

const char* to_string(lock_change_line::what change) noexcept {
  switch (change) {
    case lock_change_line::what::seen: return "seen";
    case lock_change_line::what::changed: return "changed";
    case lock_change_line::what::gone: return "gone";
  }
  return "unknown";
}

std::string state_text(const lock_info& lock) {
  std::string text = "free";
  if (!lock.holders.empty()) {
    const auto& first = lock.holders.front();
    const auto others = lock.holders.size() - 1;
    text = rests(first) ? "rests until " + time_text(first.expires_in)
                        : fmt::format("held by {} since {}, token {}", holder_text(first),
                                      time_text(-first.held_for), first.token.value());
    if (!first.data.empty()) text += fmt::format(", data \"{}\"", first.data);
    if (others > 0) text += fmt::format(", and by {} more", others);
  } else if (is_held_by_the_dead(lock)) {
    text = "held by a dead holder";
  } else if (lock.in_use > 0) {
    text = fmt::format("{} of {} used", lock.in_use, lock.capacity);
  }
  if (lock.waiters > 0) text += fmt::format(", {} waiting", lock.waiters);
  if (lock.request) text += ", release requested: " + lock.request->reason;
  return text;
}

std::vector<lock_change_line> lock_changes::look_at(const std::vector<lock_info>& locks) {
  std::vector<lock_change_line> changes;
  for (const auto& lock : locks) {
    auto now = fingerprint(lock);
    const auto [found, is_new] = locks_.try_emplace(lock.name);
    auto& last = found->second;
    last.is_there = true;
    if (!is_new && last.state == now) continue;
    last.state = std::move(now);
    changes.push_back(
        {lock.name, is_new ? lock_change_line::what::seen : lock_change_line::what::changed, lock});
  }
  return changes;
}

std::vector<lock_change_line> lock_changes::finish() {
  std::vector<lock_change_line> gone;
  for (auto at = locks_.begin(); at != locks_.end();) {
    if (at->second.is_there) {
      at->second.is_there = false;
      ++at;
    } else {
      gone.push_back({at->first, lock_change_line::what::gone, {}});
      at = locks_.erase(at);
    }
  }
  return gone;
}

}  // namespace rowlock::cli
