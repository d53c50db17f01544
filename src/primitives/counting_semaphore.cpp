#include <rowlock/counting_semaphore.hpp>
#include <rowlock/error.hpp>

#include "model/annotated_mutex.hpp"
#include "primitives/standard_lock.hpp"

#include <fmt/format.h>

#include <atomic>

namespace rowlock::primitives {

namespace {

using what = client_layer::outcome::what;

void check_capacity(std::int64_t capacity) {
  if (capacity >= 1 && capacity <= model::highest_capacity) return;
  throw error(errc::invalid_argument, fmt::format("a semaphore's capacity of {} is outside 1 to {}", capacity,
                                                  model::highest_capacity));
}

}  // namespace

class semaphore_lock {
 public:
  semaphore_lock(client db, std::string name, std::int64_t capacity, const lock_options& lock)
      : db_(std::move(db)), name_(std::move(name)), capacity_(capacity), fair_(lock.fair) {
    check_capacity(capacity);
    if (lock.delay != lock.delay.zero()) {
      throw error(errc::invalid_argument, "a semaphore has no delay: it has no exclusive holder");
    }
    acquiring();  // checks the name
  }

  const std::string& name() const { return name_; }
  // Atomic, so readers do not wait for a resize.
  std::int64_t capacity() const ROWLOCK_UNCHECKED { return capacity_.load(); }
  client_layer::engine& engine() const { return *access::engine(db_); }

  model::lock_definition definition() const {
    return {name_, model::lock_kind::semaphore, capacity(), fair_};
  }
  named_lock acquiring() const { return {db_, definition()}; }

  model::lock_request permits(std::int64_t wanted) const {
    // Reads the capacity once: a resize may come between a check and a second reading.
    if (const named_lock asks = acquiring(); wanted >= 1 && wanted <= asks.definition().capacity)
      return asks.shared(wanted);
    throw error(
        errc::invalid_argument,
        fmt::format("{} permits of \"{}\" were requested; 1 to {} are allowed", wanted, name_, capacity()));
  }

  void release(const hold& held, std::int64_t permits) const {
    if (permits < 1 || permits >= held.weight()) {
      throw error(errc::invalid_argument,
                  fmt::format("cannot release {} of the {} permits of a hold of \"{}\": release at least one "
                              "and keep at least one; hold::release() releases all",
                              permits, held.weight(), name_));
    }
    const mode_and_weight kept{model::lock_mode::shared, held.weight() - permits};
    acquiring().change(held, kept, kept, [kept](const store::lock_view& view, model::hold_id id, auto skew) {
      return client_layer::decide_reduce(view, id, kept.weight, skew);
    });
  }

  void resize(std::int64_t capacity) {
    check_capacity(capacity);
    resize([capacity](const store::lock_view& view,
                      auto skew) { return client_layer::decide_resize(view, capacity, skew); },
           capacity);
  }

  std::int64_t resize_by(std::int64_t difference) {
    return resize([difference](const store::lock_view& view,
                               auto skew) { return client_layer::decide_resize_by(view, difference, skew); },
                  capacity());
  }

 private:
  // Returns the new capacity. Creates a missing lock with the capacity `created`.
  template <class Decide>
  std::int64_t resize(Decide decide, std::int64_t created) {
    engine().check_usable();  // a forked child must not wait for the mutex
    engine().check_may_write();
    const model::annotated_lock lock{resizing_};
    auto resized = definition();
    resized.capacity = created;
    client_layer::outcome settled;
    do {
      engine().tasks().run([resized](store::lock_verbs& session) { session.create({&resized, 1}); });
      settled = engine().tasks().decide(
          name_, {}, [decide, skew = engine().environment().skew()](const store::lock_view& view) {
            return decide(view, skew);
          });
    } while (settled.result == what::absent);
    if (settled.result == what::mismatch) throw client_layer::mismatch(resized, settled.stored);
    if (settled.result == what::overrun) {
      throw error(errc::invalid_argument,
                  fmt::format("the capacity of \"{}\" is {}; with the difference it would be outside 1 to {}",
                              name_, settled.remaining, model::highest_capacity));
    }
    capacity_.store(settled.stored.capacity);
    return settled.stored.capacity;
  }

  client db_;
  std::string name_;
  // Lets one resize run at a time, so that capacity_ is what the last one stored.
  model::annotated_mutex resizing_;
  std::atomic<std::int64_t> capacity_ ROWLOCK_GUARDED_BY(resizing_);
  bool fair_;
};

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

counting_semaphore::counting_semaphore(client db, std::string name, std::int64_t capacity,
                                       const lock_options& lock)
    : lock_(std::make_unique<primitives::semaphore_lock>(std::move(db), std::move(name), capacity, lock)) {}

counting_semaphore::counting_semaphore(counting_semaphore&& other) noexcept = default;
counting_semaphore& counting_semaphore::operator=(counting_semaphore&& other) noexcept = default;
counting_semaphore::~counting_semaphore() = default;

const std::string& counting_semaphore::name() const noexcept {
  return lock_->name();
}

std::int64_t counting_semaphore::capacity() const noexcept {
  return lock_->capacity();
}

hold counting_semaphore::acquire(std::int64_t permits, const acquire_options& how) {
  return lock_->acquiring().acquire(lock_->permits(permits), {.waits = true}, how);
}

hold counting_semaphore::try_acquire(std::int64_t permits, const acquire_options& how) {
  return lock_->acquiring().acquire(lock_->permits(permits), {.waits = false}, how);
}

hold counting_semaphore::try_acquire_for(time_limit timeout, std::int64_t permits,
                                         const acquire_options& how) {
  return lock_->acquiring().acquire(lock_->permits(permits), primitives::wait_limit_of(timeout), how);
}

hold counting_semaphore::drain(const acquire_options& how) {
  auto request = lock_->acquiring().shared();
  request.everything = true;
  return lock_->acquiring().acquire(request, {.waits = false}, how);
}

wanted permits(const counting_semaphore& lock, std::int64_t count) {
  const auto& permits = primitives::access::lock(lock);
  return permits.acquiring().wanted(permits.permits(count));
}

void counting_semaphore::release(hold& held, std::int64_t permits) {
  lock_->release(held, permits);
}

std::int64_t counting_semaphore::available() const {
  return lock_->acquiring().unused();
}

void counting_semaphore::resize(std::int64_t capacity) {
  lock_->resize(capacity);
}

std::int64_t counting_semaphore::resize_by(std::int64_t difference) {
  return lock_->resize_by(difference);
}

std::vector<holder_info> counting_semaphore::holders() const {
  return lock_->acquiring().holders();
}

std::vector<waiter_info> counting_semaphore::waiters() const {
  return lock_->acquiring().waiters();
}

ROWLOCK_END_NAMESPACE
