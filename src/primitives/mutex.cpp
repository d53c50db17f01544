#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>

#include "primitives/standard_lock.hpp"

ROWLOCK_BEGIN_NAMESPACE

mutex::mutex(client db, std::string name, const lock_options& lock)
    : lock_(std::make_unique<primitives::standard_lock>(
          std::move(db), primitives::defined(std::move(name), model::lock_kind::mutex, 1, lock))) {}

mutex::~mutex() = default;

const std::string& mutex::name() const noexcept {
  return lock_->acquiring().name();
}

hold mutex::acquire(const acquire_options& how) {
  return lock_->acquiring().acquire(how);
}

std::optional<hold> mutex::try_acquire(const acquire_options& how) {
  return lock_->acquiring().try_acquire(how);
}

std::optional<hold> mutex::try_acquire_for(time_limit timeout, const acquire_options& how) {
  return lock_->acquiring().try_acquire_for(timeout, how);
}

void mutex::lock() {
  if (lock_->locked().is_mine()) {
    throw error(errc::deadlock,
                "this thread has locked \"" + name() +
                    "\" already and would wait for itself; use a recursive_mutex to enter it twice");
  }
  lock_->locked().push(acquire());
}

bool mutex::try_lock() {
  auto held = try_acquire();
  if (held) lock_->locked().push(std::move(*held));
  return held.has_value();
}

bool mutex::lock_within(time_limit timeout) {
  auto held = try_acquire_for(timeout);
  if (held) lock_->locked().push(std::move(*held));
  return held.has_value();
}

void mutex::unlock() {
  lock_->unlock();
}

wanted::wanted(const mutex& lock) : wanted(lock.lock_->acquiring().wanted()) {}

const hold& mutex::current_hold() const {
  return lock_->locked().top();
}

ROWLOCK_END_NAMESPACE
