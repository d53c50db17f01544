// A read-write lock that the thread which has locked it may lock again, without a round trip.
//
//   the thread has locked it | lock             | lock_shared
//   not at all               | waits its turn   | waits its turn
//   to write                 | counted          | counted
//   to read                  | error(deadlock)  | counted
#pragma once

#include <rowlock/shared_mutex.hpp>

#include <cstddef>

ROWLOCK_BEGIN_NAMESPACE

// In the database it is the same lock as a rowlock::shared_mutex of that name. A thread re-enters through the
// same object; re-entry is counted and sends nothing. No function returns a hold of its own; use a shared_mutex for
// holds that are passed on.
//
// Each lock() needs an unlock() and each lock_shared() an unlock_shared(), in any order:
// - The last unlock() while the thread still reads makes it a reader in one step, as shared_mutex::downgrade(): other
//   readers join, and no writer comes in between. If that fails, other readers wait until it has unlocked.
// - The last unlock_shared() while the thread still writes sends nothing.
// - The last unlock of either kind releases the lock.
//
// Thread safety: every member may be called from any thread at once. Only the thread that has locked it can unlock it;
// if the thread ends first, it stays locked until this object is destroyed. A lost hold is not entered again: lock()
// and lock_shared() acquire the lock anew. An unlock then belongs to the latest hold that the thread has locked in that
// mode; the unlocks that are still due after that end the lost hold. Once the client is closed, all members except the
// unlocks and name() throw error(closed); in a forked child they throw error(forked), and the unlocks do nothing.
// Movable, as mutex.
class ROWLOCK_EXPORT recursive_shared_mutex {
 public:
  recursive_shared_mutex(client db, std::string name, const lock_options& lock = {});  // as mutex
  recursive_shared_mutex(recursive_shared_mutex&& other) noexcept;
  recursive_shared_mutex& operator=(recursive_shared_mutex&& other) noexcept;  // unlocks what it had locked
  ~recursive_shared_mutex();                                                   // unlocks

  const std::string& name() const noexcept;

  // Locks to write. Throws what shared_mutex::lock() throws. A thread that only reads would wait for itself: lock()
  // throws error(deadlock), and the others return false, at once.
  void lock();
  [[nodiscard]] bool try_lock();
  [[nodiscard]] bool try_lock_for(time_limit timeout);
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_for(time_limit::until(time));
  }
  // Throws error(hold_lost) if this thread has not locked it to write. Does not report that the hold was lost in the
  // meantime, or that the database does not answer. Waits as hold::release() does; to become a reader, at most twice as
  // long as a call may take.
  void unlock();

  // Locks to read. Throws what shared_mutex::lock_shared() throws, except error(deadlock).
  void lock_shared();
  [[nodiscard]] bool try_lock_shared();
  [[nodiscard]] bool try_lock_shared_for(time_limit timeout);
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return try_lock_shared_for(time_limit::until(time));
  }
  // Throws error(hold_lost) if this thread has not locked it to read.
  void unlock_shared();

  // This thread's hold: its token, remaining time, stop token and guard. Throws error(hold_lost) if there is none.
  const hold& current_hold() const;

  // How often this thread has locked it to write and to read. 0 if the hold was lost and the thread has not locked
  // anew.
  [[nodiscard]] std::size_t write_depth() const;
  [[nodiscard]] std::size_t read_depth() const;

  // As the functions of mutex.
  [[nodiscard]] bool is_locked() const;
  [[nodiscard]] std::vector<holder_info> holders() const;
  [[nodiscard]] std::vector<waiter_info> waiters() const;

 private:
  class state;

  std::unique_ptr<state> state_;
};

ROWLOCK_END_NAMESPACE
