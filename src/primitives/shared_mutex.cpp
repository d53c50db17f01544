#include <rowlock/error.hpp>
#include <rowlock/shared_mutex.hpp>

#include "model/annotated_mutex.hpp"
#include "primitives/standard_lock.hpp"

#include <algorithm>

namespace rowlock::primitives {

// What each thread has locked with lock_shared(), and how often. Thread-safe.
class read_holds {
  struct entry {
    std::uint64_t owner;
    std::unique_ptr<hold> held;
    int entries;
  };

  template <class Entries>
  static auto innermost(Entries& held) {
    const auto last = std::find_if(
        held.rbegin(), held.rend(),
        [owner = model::hold_id::owner_of_this_thread()](const entry& one) { return one.owner == owner; });
    return last == held.rend() ? held.end() : std::prev(last.base());
  }

 public:
  // Enters the calling thread's valid hold once more. False: it has none.
  bool enter() {
    const model::annotated_lock lock{mutex_};
    const auto mine = innermost(held_);
    if (mine == held_.end() || !mine->held->valid()) return false;
    ++mine->entries;
    return true;
  }
  void push(hold held) {
    auto owned = std::make_unique<hold>(std::move(held));
    const model::annotated_lock lock{mutex_};
    held_.push_back({model::hold_id::owner_of_this_thread(), std::move(owned), 1});
  }
  // Undoes the calling thread's last entry. Returns the hold if that was its first. Throws error(hold_lost)
  // if it has none.
  std::unique_ptr<hold> leave(const std::string& name) {
    const model::annotated_lock lock{mutex_};
    const auto mine = innermost(held_);
    if (mine == held_.end()) {
      throw error(errc::hold_lost,
                  "\"" + name + "\" is not locked for reading by this thread; call lock_shared() first");
    }
    if (--mine->entries > 0) return nullptr;
    auto last = std::move(mine->held);
    held_.erase(mine);
    return last;
  }
  // Null: the calling thread has locked nothing to read.
  const hold* current() const {
    const model::annotated_lock lock{mutex_};
    const auto mine = innermost(held_);
    return mine == held_.end() ? nullptr : mine->held.get();
  }

 private:
  mutable model::annotated_mutex mutex_;
  std::vector<entry> held_ ROWLOCK_GUARDED_BY(mutex_);
};

class shared_lock final : public standard_lock {
 public:
  using standard_lock::standard_lock;

  hold acquire_shared(const wait_limit& how_long, const acquire_options& how) const {
    return acquiring().acquire(acquiring().shared(), how_long, how);
  }

  void lock_shared() {
    check_process();
    if (reads_.enter()) return;
    if (is_locked_by_this_thread()) {
      throw error(errc::deadlock, "this thread has locked \"" + name() +
                                      "\" for writing and would wait for itself; unlock it first");
    }
    reads_.push(acquire_shared({.waits = true}, {}));
  }

  bool lock_shared_within(const wait_limit& how_long) {
    check_process();
    if (reads_.enter()) return true;
    auto held = acquire_shared(how_long, {});
    if (!access::state(held)) return false;
    reads_.push(std::move(held));
    return true;
  }

  void unlock_shared() {
    if (engine().is_forked()) return;
    if (const auto last = reads_.leave(name())) last->release();
  }

  const hold& current() const {
    check_process();
    const auto* read = reads_.current();
    return read != nullptr ? *read : top();
  }

 private:
  void check_lock() const override {
    // A hold that is lost is in nobody's way, although its thread has yet to unlock it.
    const auto* read = reads_.current();
    if (!is_locked_by_this_thread() && (read == nullptr || !read->valid())) return;
    throw error(errc::deadlock, "this thread has already locked \"" + name() +
                                    "\" and would wait for itself; unlock it first");
  }

  read_holds reads_;
};

namespace {

// While a change of a hold is in doubt, a reader's share is what the hold has in any case.
constexpr share reader{lock_mode::shared, 1};

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
