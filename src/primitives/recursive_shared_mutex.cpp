#include <rowlock/error.hpp>
#include <rowlock/recursive_shared_mutex.hpp>

#include "primitives/standard_lock.hpp"

#include <exception>

ROWLOCK_BEGIN_NAMESPACE

class recursive_shared_mutex::state {
  using entry = primitives::thread_holds::entry;

 public:
  state(client db, std::string name, const lock_options& lock)
      : lock_(std::move(db), std::move(name), lock) {}

  shared_mutex& lock() noexcept { return lock_; }

  // Calls `acquire` unless this thread already writes. False: `acquire` gave up, or this thread only reads.
  template <class Acquire>
  bool write(Acquire acquire) {
    if (auto* mine = valid()) {
      if (mine->writes == 0) return false;
      ++mine->writes;
      return true;
    }
    return push(acquire(), 1, 0);
  }

  template <class Acquire>
  bool read(Acquire acquire) {
    if (auto* mine = valid()) {
      ++mine->reads;
      return true;
    }
    return push(acquire(), 0, 1);
  }

  void unlock() {
    if (engine().is_forked()) return;
    auto* mine = locked_.innermost(primitives::thread_holds::is_written);
    if (mine == nullptr) throw not_locked(" for writing by this thread; call lock() first");
    if (--mine->writes > 0) return;
    if (mine->reads == 0) return release(*mine);
    try {
      lock_.downgrade(mine->held);
    } catch (const std::exception& failure) {
      if (!mine->held.valid()) return;
      // Keeping the lock exclusively is safe: it only excludes other readers for longer.
      engine().environment().log(
          log_level::warning,
          "\"{}\" stays locked for writing until its last reader in this thread has unlocked it: {}",
          lock_.name(), failure.what());
    }
  }

  void unlock_shared() {
    if (engine().is_forked()) return;
    auto* mine = locked_.innermost(primitives::thread_holds::is_read);
    if (mine == nullptr) throw not_locked(" for reading by this thread; call lock_shared() first");
    if (--mine->reads == 0 && mine->writes == 0) release(*mine);
  }

  const hold& current() {
    engine().check_usable();
    const auto* mine = locked_.innermost([](const entry&) { return true; });
    if (mine == nullptr) throw not_locked(" by this thread");
    return mine->held;
  }

  std::size_t depth(std::size_t entry::*of) {
    const auto* mine = valid();
    return mine != nullptr ? mine->*of : 0;
  }
  std::size_t write_depth() { return depth(&entry::writes); }
  std::size_t read_depth() { return depth(&entry::reads); }

  void check_not_reading() {
    if (const auto* mine = valid(); mine == nullptr || mine->writes > 0) return;
    throw error(errc::deadlock, "this thread has locked \"" + lock_.name() +
                                    "\" for reading and would wait for itself; unlock it first");
  }

 private:
  client_layer::engine& engine() const { return primitives::access::lock(lock_).engine(); }

  error not_locked(const std::string& what) const {
    return {errc::hold_lost, "\"" + lock_.name() + "\" is not locked" + what};
  }

  entry* valid() {
    engine().check_usable();
    return locked_.innermost(primitives::thread_holds::is_valid);
  }

  bool push(hold held, std::size_t writes, std::size_t reads) {
    if (!primitives::access::state(held)) return false;
    locked_.push(std::move(held), writes, reads);
    return true;
  }

  void release(const entry& over) { locked_.remove(over).release(); }

  shared_mutex lock_;
  primitives::thread_holds locked_;
};

recursive_shared_mutex::recursive_shared_mutex(client db, std::string name, const lock_options& lock)
    : state_(std::make_unique<state>(std::move(db), std::move(name), lock)) {}

recursive_shared_mutex::recursive_shared_mutex(recursive_shared_mutex&& other) noexcept = default;
recursive_shared_mutex& recursive_shared_mutex::operator=(recursive_shared_mutex&& other) noexcept = default;
recursive_shared_mutex::~recursive_shared_mutex() = default;

const std::string& recursive_shared_mutex::name() const noexcept {
  return state_->lock().name();
}

void recursive_shared_mutex::lock() {
  state_->check_not_reading();
  state_->write([this] { return state_->lock().acquire(); });
}

bool recursive_shared_mutex::try_lock() {
  return state_->write([this] { return state_->lock().try_acquire(); });
}

bool recursive_shared_mutex::try_lock_for(time_limit timeout) {
  return state_->write([&] { return state_->lock().try_acquire_for(timeout); });
}

void recursive_shared_mutex::unlock() {
  state_->unlock();
}

void recursive_shared_mutex::lock_shared() {
  state_->read([this] { return state_->lock().acquire_shared(); });
}

bool recursive_shared_mutex::try_lock_shared() {
  return state_->read([this] { return state_->lock().try_acquire_shared(); });
}

bool recursive_shared_mutex::try_lock_shared_for(time_limit timeout) {
  return state_->read([&] { return state_->lock().try_acquire_shared_for(timeout); });
}

void recursive_shared_mutex::unlock_shared() {
  state_->unlock_shared();
}

const hold& recursive_shared_mutex::current_hold() const {
  return state_->current();
}

std::size_t recursive_shared_mutex::write_depth() const {
  return state_->write_depth();
}

std::size_t recursive_shared_mutex::read_depth() const {
  return state_->read_depth();
}

bool recursive_shared_mutex::is_locked() const {
  return state_->lock().is_locked();
}

std::vector<holder_info> recursive_shared_mutex::holders() const {
  return state_->lock().holders();
}

std::vector<waiter_info> recursive_shared_mutex::waiters() const {
  return state_->lock().waiters();
}

ROWLOCK_END_NAMESPACE
