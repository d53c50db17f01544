#include <rowlock/mutex.hpp>

#include "primitives/standard_lock.hpp"

ROWLOCK_BEGIN_NAMESPACE

using primitives::wait_limit_of;

exclusive_lock::exclusive_lock(std::unique_ptr<primitives::standard_lock> lock) noexcept
    : lock_(std::move(lock)) {}

exclusive_lock::exclusive_lock(exclusive_lock&& other) noexcept = default;
exclusive_lock& exclusive_lock::operator=(exclusive_lock&& other) noexcept = default;
exclusive_lock::~exclusive_lock() = default;

const std::string& exclusive_lock::name() const noexcept {
  return lock_->name();
}

hold exclusive_lock::acquire(const acquire_options& how) {
  return lock_->acquire({.waits = true}, how);
}

hold exclusive_lock::try_acquire(const acquire_options& how) {
  return lock_->acquire({.waits = false}, how);
}

hold exclusive_lock::try_acquire_for(time_limit timeout, const acquire_options& how) {
  return lock_->acquire(wait_limit_of(timeout), how);
}

void exclusive_lock::lock() {
  lock_->lock();
}

bool exclusive_lock::try_lock() {
  return lock_->lock_within({.waits = false});
}

bool exclusive_lock::lock_within(time_limit timeout) {
  return lock_->lock_within(wait_limit_of(timeout));
}

void exclusive_lock::unlock() {
  lock_->unlock();
}

const hold& exclusive_lock::current_hold() const {
  return lock_->top();
}

bool exclusive_lock::is_locked() const {
  return lock_->acquiring().is_locked();
}

std::vector<holder_info> exclusive_lock::holders() const {
  return lock_->acquiring().holders();
}

std::vector<waiter_info> exclusive_lock::waiters() const {
  return lock_->acquiring().waiters();
}

mutex::mutex(client db, std::string name, const lock_options& lock)
    : exclusive_lock(std::make_unique<primitives::standard_lock>(
          std::move(db), primitives::defined(std::move(name), lock_kind::mutex, 1, lock))) {}

ROWLOCK_END_NAMESPACE
