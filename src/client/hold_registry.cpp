#include "client/hold_registry.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

// Some hundred bytes each; a renewal for so many releases costs them nothing.
constexpr std::size_t many_releases = 8192;

}  // namespace

void hold_registry::add(const hold_ptr& hold) {
  const std::lock_guard lock{mutex_};
  if (holds_.emplace(hold->id(), hold).second && !hold->lease()->is_renewed()) ++explicit_;
}

void hold_registry::remove(const hold_state& hold) {
  const std::lock_guard lock{mutex_};
  if (holds_.erase(hold.id()) != 0 && !hold.lease()->is_renewed()) --explicit_;
}

std::vector<hold_ptr> hold_registry::all() const {
  const std::lock_guard lock{mutex_};
  std::vector<hold_ptr> found;
  found.reserve(holds_.size());
  for (const auto& [id, hold] : holds_) found.push_back(hold);
  return found;
}

std::vector<hold_ptr> hold_registry::on(const lease& lease) const {
  const std::lock_guard lock{mutex_};
  std::vector<hold_ptr> found;
  for (const auto& [id, hold] : holds_) {
    if (hold->lease().get() == &lease) found.push_back(hold);
  }
  return found;
}

std::vector<hold_ptr> hold_registry::overdue(instant now) const {
  const std::lock_guard lock{mutex_};
  std::vector<hold_ptr> found;
  if (explicit_ == 0) return found;
  for (const auto& [id, hold] : holds_) {
    if (!hold->lease()->is_renewed() && !hold->lease()->is_valid(now)) found.push_back(hold);
  }
  return found;
}

std::optional<instant> hold_registry::next_deadline() const {
  const std::lock_guard lock{mutex_};
  std::optional<instant> next;
  if (explicit_ == 0) return next;
  for (const auto& [id, hold] : holds_) {
    if (hold->lease()->is_renewed()) continue;
    if (!next || hold->lease()->deadline() < *next) next = hold->lease()->deadline();
  }
  return next;
}

bool recent_releases::add(entry release) {
  const std::lock_guard lock{mutex_};
  entries_.push_back(std::move(release));
  return entries_.size() == many_releases;
}

void recent_releases::confirm(instant sent_at) {
  const std::lock_guard lock{mutex_};
  std::erase_if(entries_, [&](const entry& release) { return release.answered_at < sent_at; });
}

std::vector<recent_releases::entry> recent_releases::take_all() {
  const std::lock_guard lock{mutex_};
  return std::exchange(entries_, {});
}

}  // namespace rowlock::client_layer
