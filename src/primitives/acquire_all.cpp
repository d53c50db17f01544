#include <rowlock/acquire_all.hpp>
#include <rowlock/error.hpp>

#include "client/call/joint_call.hpp"
#include "primitives/standard_lock.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using primitives::access;
using primitives::wait_limit;

// The holds in the order of `locks`. Empty: not granted.
hold_set take(const std::vector<wanted>& locks, const wait_limit& how_long, const acquire_options& how) {
  const auto asked = access::locks(locks);
  return access::holds(
      client_layer::acquire_together(*access::engine(asked.db), asked.wanted, how_long, how));
}

wanted exclusively(const primitives::named_lock& acquiring) {
  return acquiring.wanted(acquiring.exclusive());
}

}  // namespace

namespace primitives {

access::joint_request access::locks(const std::vector<wanted>& all) {
  if (all.empty()) {
    throw error(errc::invalid_argument, "the list of locks is empty; name at least one lock");
  }
  joint_request asked{db(all.front()), {}};
  for (const auto& one : all) {
    if (engine(db(one)) != engine(asked.db)) {
      throw error(errc::invalid_argument,
                  "the locks belong to more than one client; name locks of one client");
    }
    asked.wanted.push_back(lock(one));
  }
  return asked;
}

hold_set access::holds(std::vector<client_layer::hold_ptr> granted) {
  std::vector<hold> all;
  try {
    all.reserve(granted.size());
  } catch (...) {
    for (const auto& one : granted) one->engine().releaser().give_back(*one);
    throw;
  }
  for (auto& one : granted) all.push_back(make<hold>(std::move(one)));
  return make<hold_set>(std::move(all));
}

}  // namespace primitives

wanted::wanted(client db, model::lock_request lock)
    : db_(std::move(db)), lock_(std::make_shared<const model::lock_request>(std::move(lock))) {}

wanted::wanted(const mutex& lock) : wanted(exclusively(access::lock(lock).acquiring())) {}
wanted::wanted(const shared_mutex& lock) : wanted(exclusively(access::lock(lock).acquiring())) {}
wanted::wanted(const election& office) : wanted(exclusively(access::lock(office))) {}

hold_set acquire_all(const std::vector<wanted>& locks, const acquire_options& how) {
  return take(locks, {.waits = true}, how);
}

hold_set try_acquire_all(const std::vector<wanted>& locks, const acquire_options& how) {
  return take(locks, {.waits = false}, how);
}

hold_set try_acquire_all_for(time_limit timeout, const std::vector<wanted>& locks,
                             const acquire_options& how) {
  return take(locks, primitives::wait_limit_of(timeout), how);
}

hold_set::hold_set() noexcept = default;
hold_set::hold_set(std::vector<hold> holds) noexcept : holds_(std::move(holds)) {}
hold_set::hold_set(hold_set&& other) noexcept = default;

hold_set& hold_set::operator=(hold_set&& other) noexcept {
  if (this == &other) return *this;
  const hold_set previous{std::move(*this)};
  holds_ = std::move(other.holds_);
  return *this;
}

hold_set::~hold_set() {
  const auto first = std::find_if(holds_.begin(), holds_.end(),
                                  [](const hold& one) { return access::state(one) != nullptr; });
  if (first == holds_.end()) return;
  auto& engine = access::state(*first)->engine();
  if (engine.is_forked()) return;
  try {
    release();
  } catch (const std::exception& failure) {
    engine.environment().log(log_level::error, "releasing several locks: {}", failure.what());
  }
}

bool hold_set::valid() const noexcept {
  return !holds_.empty() &&
         std::all_of(holds_.begin(), holds_.end(), [](const hold& one) { return one.valid(); });
}

std::vector<release_result> hold_set::release() {
  for (auto& one : holds_) {
    if (const auto& state = access::state(one)) state->engine().check_process();
  }
  // Everything that the release needs is allocated before the first hold ends.
  std::vector<release_result> results(holds_.size());
  std::vector<release_result> answers(holds_.size());
  std::vector<client_layer::release_answer> room(holds_.size());
  std::vector<std::size_t> released;
  std::vector<client_layer::hold_ptr> states;
  released.reserve(holds_.size());
  states.reserve(holds_.size());
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    const auto [releases, otherwise] = access::end(holds_[i]);
    results[i] = otherwise;
    if (!releases) continue;
    released.push_back(i);
    states.push_back(releases);
  }
  if (states.empty()) return results;
  states.front()->engine().releaser().release(states, std::span{room}.first(states.size()),
                                              std::span{answers}.first(states.size()));
  for (std::size_t i = 0; i < states.size(); ++i) {
    access::settle(holds_[released[i]], answers[i]);
    results[released[i]] = answers[i];
  }
  return results;
}

ROWLOCK_END_NAMESPACE
