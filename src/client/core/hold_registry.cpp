#include "client/core/hold_registry.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// Each entry takes some hundred bytes. An early renewal for that many releases costs next to nothing.
constexpr std::size_t many_releases = 8192;

}  // namespace

bool hold_registry::add(const hold_ptr& hold, std::uint64_t checks_before) {
  bool look_soon = false;
  {
    const model::annotated_lock lock{mutex_};
    // The thread that ends a lease takes its holds afterwards, under this mutex.
    if (hold->lease()->is_ended()) return false;
    if (!holds_.emplace(hold->id(), hold).second) return true;
    try {
      look_soon = enter(hold, checks_before);
    } catch (...) {
      forget(*hold);
      throw;
    }
    note();
  }
  look_soon ? agenda_.wake() : agenda_.note_hold();
  return true;
}

bool hold_registry::enter(const hold_ptr& hold, std::uint64_t checks_before) {
  bool look_soon = checks_before != check_count_.load();
  if (!hold->lease()->is_renewed()) {
    deadlines_.emplace(hold->lease()->deadline(), hold->id());
    if (is_unreachable(*hold)) look_soon = unreachable_.insert(hold->id()).second || look_soon;
  }
  if (look_soon) unchecked_.insert(hold->id());
  return look_soon;
}

void hold_registry::remove(const hold_state& hold) noexcept {
  const model::annotated_lock lock{mutex_};
  forget(hold);
  note();
}

void hold_registry::remove(std::span<const hold_ptr> holds) noexcept {
  const model::annotated_lock lock{mutex_};
  for (const auto& hold : holds) forget(*hold);
  note();
}

void hold_registry::forget(const hold_state& hold) noexcept {
  // Another object with the same id may be registered; that one stays.
  const auto found = holds_.find(hold.id());
  if (found == holds_.end() || found->second.get() != &hold) return;
  holds_.erase(found);
  forget_deadline(hold);
}

void hold_registry::forget_deadline(const hold_state& hold) noexcept {
  unchecked_.erase(hold.id());
  if (hold.lease()->is_renewed()) return;
  deadlines_.erase({hold.lease()->deadline(), hold.id()});
  unreachable_.erase(hold.id());
}

void hold_registry::note() noexcept {
  size_.store(holds_.size());
  has_unchecked_.store(!unchecked_.empty());
  has_unreachable_.store(!unreachable_.empty());
}

bool hold_registry::contains(model::hold_id id) const {
  const model::annotated_lock lock{mutex_};
  return holds_.contains(id);
}

std::vector<hold_ptr> hold_registry::all() const {
  const model::annotated_lock lock{mutex_};
  std::vector<hold_ptr> found;
  found.reserve(holds_.size());
  for (const auto& [id, hold] : holds_) found.push_back(hold);
  return found;
}

lost_holds hold_registry::lose(const lease& lease, loss reason) noexcept {
  lost_holds lost;
  const model::annotated_lock lock{mutex_};
  for (auto at = holds_.begin(); at != holds_.end();) {
    auto& hold = at->second;
    if (hold->lease().get() != &lease) {
      ++at;
      continue;
    }
    forget_deadline(*hold);
    if (hold->lose(reason)) lost.push(std::move(hold));
    at = holds_.erase(at);
  }
  note();
  return lost;
}

lost_holds hold_registry::lose_all(loss reason) noexcept {
  lost_holds lost;
  const model::annotated_lock lock{mutex_};
  for (const auto& [id, hold] : holds_) {
    if (hold->lose(reason)) lost.push(hold);
  }
  return lost;
}

std::vector<hold_ptr> hold_registry::overdue(instant now) const {
  const model::annotated_lock lock{mutex_};
  std::vector<hold_ptr> found;
  for (const auto& [deadline, id] : deadlines_) {
    if (deadline > now) break;
    found.push_back(holds_.at(id));
  }
  return found;
}

std::optional<instant> hold_registry::next_deadline() const {
  const model::annotated_lock lock{mutex_};
  if (deadlines_.empty()) return {};
  return deadlines_.begin()->first;
}

std::vector<hold_ptr> hold_registry::begin_check() {
  {
    const model::annotated_lock lock{mutex_};
    ++check_count_;
    unchecked_.clear();
    note();
  }
  return all();
}

std::vector<hold_ptr> hold_registry::unchecked() const {
  const model::annotated_lock lock{mutex_};
  std::vector<hold_ptr> found;
  for (const auto& id : unchecked_) found.push_back(holds_.at(id));
  return found;
}

void hold_registry::checked(std::span<const hold_ptr> holds) {
  const model::annotated_lock lock{mutex_};
  for (const auto& hold : holds) unchecked_.erase(hold->id());
  note();
}

bool hold_registry::is_unreachable(const hold_state& hold) const {
  return !client_.is_nil() && hold.lease()->client() != client_;
}

void hold_registry::receive_as(model::lease_id client) {
  const model::annotated_lock lock{mutex_};
  client_ = client;
  unreachable_.clear();
  for (const auto& [deadline, id] : deadlines_) {
    if (is_unreachable(*holds_.at(id))) unreachable_.insert(id);
  }
  note();
}

std::vector<hold_ptr> hold_registry::next_unreachable(std::size_t most) {
  const model::annotated_lock lock{mutex_};
  std::vector<hold_ptr> page;
  auto at = unreachable_.upper_bound(unreachable_cursor_);
  for (; page.size() < std::min(most, unreachable_.size()); ++at) {
    if (at == unreachable_.end()) at = unreachable_.begin();
    page.push_back(holds_.at(*at));
    unreachable_cursor_ = *at;
  }
  return page;
}

// Takes the hash table's buckets in turn. A rehash shuffles the holds, but each hold's turn still comes.
std::vector<hold_ptr> hold_registry::next_page(std::size_t most) {
  const model::annotated_lock lock{mutex_};
  std::vector<hold_ptr> page;
  const auto buckets = holds_.bucket_count();
  for (std::size_t seen = 0; seen < buckets && page.size() < most; ++seen) {
    page_cursor_ = (page_cursor_ + 1) % buckets;
    for (auto at = holds_.begin(page_cursor_); at != holds_.end(page_cursor_); ++at)
      page.push_back(at->second);
  }
  return page;
}

std::vector<recent_releases::entry> recent_releases::all() const {
  const model::annotated_lock lock{mutex_};
  return entries_;
}

void recent_releases::forget_first(std::size_t count) noexcept {
  const model::annotated_lock lock{mutex_};
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
}

bool recent_releases::add(entry release) {
  const model::annotated_lock lock{mutex_};
  entries_.push_back(std::move(release));
  return entries_.size() == many_releases;
}

void recent_releases::confirm(instant sent_at) {
  const model::annotated_lock lock{mutex_};
  std::erase_if(entries_, [&](const entry& release) { return release.answered_at < sent_at; });
}

}  // namespace rowlock::client_layer
