#include <rowlock/error.hpp>
#include <rowlock/shared_mutex.hpp>

#include "primitives/standard_lock.hpp"

namespace rowlock::primitives {

class shared_lock final : public standard_lock {
 public:
  using standard_lock::standard_lock;

  hold acquire_shared(const wait_limit& how_long, const acquire_options& how) const {
    return acquiring().acquire(acquiring().shared(), how_long, how);
  }

  void lock_shared() {
    check_process();
    if (reads_again()) return;
    if (is_locked_by_this_thread()) {
      throw error(errc::deadlock, "this thread has locked \"" + name() +
                                      "\" for writing and would wait for itself; unlock it first");
    }
    locked().push(acquire_shared({.waits = true}, {}), 0, 1);
  }

  bool lock_shared_within(const wait_limit& how_long) {
    check_process();
    if (reads_again()) return true;
    auto held = acquire_shared(how_long, {});
    if (!access::state(held)) return false;
    locked().push(std::move(held), 0, 1);
    return true;
  }

  void unlock_shared() {
    if (engine().is_forked()) return;
    auto* mine = reading();
    if (mine == nullptr) {
      throw error(errc::hold_lost,
                  "\"" + name() + "\" is not locked for reading by this thread; call lock_shared() first");
    }
    if (--mine->reads == 0) locked().remove(*mine).release();
  }

  const hold& current() const {
    check_process();
    const auto* mine = locked().innermost([](const thread_holds::entry&) { return true; });
    if (mine == nullptr) throw not_locked();
    return mine->held;
  }

 private:
  // What the calling thread has locked to read. Null: nothing.
  thread_holds::entry* reading() const { return locked().innermost(thread_holds::is_read); }
  // Enters the calling thread's valid hold once more. False: it has none.
  bool reads_again() const {
    auto* mine = reading();
    if (mine == nullptr || !mine->held.valid()) return false;
    ++mine->reads;
    return true;
  }
  void check_lock() const override {
    // A lost hold does not keep its thread from locking, although the thread has yet to unlock it.
    const auto* read = reading();
    if (!is_locked_by_this_thread() && (read == nullptr || !read->held.valid())) return;
    throw error(errc::deadlock, "this thread has already locked \"" + name() +
                                    "\" and would wait for itself; unlock it first");
  }
};

namespace {

// While a change of a hold is in doubt, the hold has at least a reader's share.
constexpr mode_and_weight reader{lock_mode::shared, 1};

shared_lock& of(exclusive_lock& lock) {
  return static_cast<shared_lock&>(access::lock(lock));
}

}  // namespace

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

using primitives::of;
using primitives::reader;
using primitives::wait_limit_of;

shared_mutex::shared_mutex(client db, std::string name, const lock_options& lock)
    : exclusive_lock(std::make_unique<primitives::shared_lock>(
          std::move(db), primitives::defined(std::move(name), lock_kind::shared_mutex,
                                             model::shared_mutex_capacity, lock))) {}

hold shared_mutex::acquire_shared(const acquire_options& how) {
  return of(*this).acquire_shared({.waits = true}, how);
}

hold shared_mutex::try_acquire_shared(const acquire_options& how) {
  return of(*this).acquire_shared({.waits = false}, how);
}

hold shared_mutex::try_acquire_shared_for(time_limit timeout, const acquire_options& how) {
  return of(*this).acquire_shared(wait_limit_of(timeout), how);
}

void shared_mutex::downgrade(hold& held) {
  of(*this).acquiring().change(held, reader, reader, client_layer::decide_downgrade);
}

bool shared_mutex::try_upgrade(hold& held) {
  return of(*this).acquiring().change(held, {lock_mode::exclusive, model::shared_mutex_capacity}, reader,
                                      client_layer::decide_upgrade);
}

void shared_mutex::lock_shared() {
  of(*this).lock_shared();
}

bool shared_mutex::try_lock_shared() {
  return of(*this).lock_shared_within({.waits = false});
}

bool shared_mutex::lock_shared_within(time_limit timeout) {
  return of(*this).lock_shared_within(wait_limit_of(timeout));
}

void shared_mutex::unlock_shared() {
  of(*this).unlock_shared();
}

const hold& shared_mutex::current_hold() const {
  return static_cast<const primitives::shared_lock&>(primitives::access::lock(*this)).current();
}

wanted shared(const shared_mutex& lock) {
  const auto& acquiring = primitives::access::lock(lock).acquiring();
  return acquiring.wanted(acquiring.shared());
}

ROWLOCK_END_NAMESPACE
