#include <rowlock/recursive_mutex.hpp>

#include "client/engine.hpp"
#include "primitives/standard_lock.hpp"

namespace rowlock::primitives {

class recursive_lock {
 public:
  recursive_lock(client db, model::lock_definition definition) : base{std::move(db), std::move(definition)} {}

  client_layer::engine& engine() const { return *base.acquiring().db().engine(); }
  const std::string& name() const { return base.acquiring().name(); }

  // Another hold on what this thread holds already. Null: it holds nothing, or what it held is over.
  client_layer::hold_ptr enter() const {
    engine().check_usable();
    auto held = engine().entries().find(name(), model::hold_id::owner_of_this_thread());
    return held && held->is_valid() && held->enter() ? held : nullptr;
  }

  void remember(const client_layer::hold_ptr& held) const {
    if (held) engine().entries().put(name(), model::hold_id::owner_of_this_thread(), held);
  }

  client_layer::hold_ptr acquire(const client_layer::wait_limit& how_long, const acquire_options& how) const {
    if (auto held = enter()) return held;
    auto held = engine().acquire(base.acquiring().definition(), how_long, how);
    remember(held);
    return held;
  }

  standard_lock base;
};

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

recursive_mutex::recursive_mutex(client db, std::string name, const lock_options& lock)
    : lock_(std::make_unique<primitives::recursive_lock>(
          std::move(db), primitives::defined(std::move(name), model::lock_kind::mutex, 1, lock))) {}

recursive_mutex::~recursive_mutex() = default;

const std::string& recursive_mutex::name() const noexcept {
  return lock_->name();
}

hold recursive_mutex::acquire(const acquire_options& how) {
  return hold{lock_->acquire({.waits = true}, how)};
}

std::optional<hold> recursive_mutex::try_acquire(const acquire_options& how) {
  auto held = lock_->acquire({.waits = false}, how);
  if (!held) return {};
  return hold{std::move(held)};
}

std::optional<hold> recursive_mutex::try_acquire_for(time_limit timeout, const acquire_options& how) {
  if (timeout.length() <= std::chrono::nanoseconds{0}) return try_acquire(how);
  auto held = lock_->acquire({.waits = true, .limit = timeout.length()}, how);
  if (!held) return {};
  return hold{std::move(held)};
}

void recursive_mutex::lock() {
  lock_->base.locked().push(acquire());
}

bool recursive_mutex::try_lock() {
  auto held = try_acquire();
  if (held) lock_->base.locked().push(std::move(*held));
  return held.has_value();
}

bool recursive_mutex::lock_within(time_limit timeout) {
  auto held = try_acquire_for(timeout);
  if (held) lock_->base.locked().push(std::move(*held));
  return held.has_value();
}

void recursive_mutex::unlock() {
  lock_->base.unlock();
}

const hold& recursive_mutex::current_hold() const {
  return lock_->base.locked().top();
}

std::size_t recursive_mutex::depth() const {
  const auto held = lock_->engine().entries().find(lock_->name(), model::hold_id::owner_of_this_thread());
  return held && held->is_valid() ? held->depth() : 0;
}

ROWLOCK_END_NAMESPACE
