// A mutual exclusion lock with a name, for all processes that use the same database.
//
//   the lock is     | try_acquire      | acquire             | its hold is released    | its hold is renewed
//   free            | granted          | granted             | -                       | -
//   held            | empty hold       | waits its turn      | free, or handed to the  | stays valid
//                   |                  |                     | first waiter            |
//   held; the lease | kills the lease, | kills the lease,    | lost                    | lost
//   has expired     | granted          | granted             |                         |
//
// If others wait, try_acquire returns an empty hold, and acquire waits its turn, in every row. A lock that rests
// (lock_options::delay, acquire_options::min_hold) counts as held.
//
// Not promised: that a holder notices its loss before the lock is granted to somebody else, if its process was stopped
// or its clock ran slow by more than the margin. Then the token and hold::guard_statement protect the data.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/lock_info.hpp>

ROWLOCK_BEGIN_NAMESPACE

// What mutex, recursive_mutex and shared_mutex have in common: they acquire a lock exclusively, by its name. They are
// the standard's Lockable and TimedLockable, so std::unique_lock and std::scoped_lock work. Waiters of all processes
// are granted the lock in the order of their requests, unless lock_options::fair is false.
//
// All locks of rowlock are movable. A move takes along what lock() has locked, and must not run concurrently with other
// calls; std::unique_lock and the like do not follow it. A moved-from lock may only be assigned to or destroyed.
//
// Thread safety: every member may be called from any thread at once. Only the thread that has locked can unlock.
class ROWLOCK_EXPORT exclusive_lock {
 public:
  const std::string& name() const noexcept;

  // Waits its turn, for ever if necessary, even while the database cannot be reached. Throws error: mismatch,
  // cancelled, closed, forked, deadlock if that is detected, permanent refusals (authentication, privilege,
  // not_migrated, too_new, database), invalid_argument for impossible options or too many holds (options::margin),
  // read_only if options::read_only is set, unreachable if a thread cannot be started, and internal. If this or one of
  // the following calls returns no hold, nothing is held: the call's place in the queue, or a late grant, is released
  // in the background.
  hold acquire(const acquire_options& how = {});

  // Does not wait for a holder. Empty: somebody holds the lock or waits for it, it rests, or stop was requested. Throws
  // also error: unreachable; read_only; contention if no holder is known but another transaction has kept the lock's
  // row locked for 800 ms.
  hold try_acquire(const acquire_options& how = {});

  // Waits at most `timeout`; zero or less is try_acquire. Empty: the lock was not granted by then, or stop was
  // requested. Throws as try_acquire if by then the call had entered no queue and its latest attempt to ask the
  // database had failed. If the database answered nothing during the whole call, it throws unreachable for a timeout of
  // 800 ms or more; for a shorter one the hold is empty.
  hold try_acquire_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                         const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), how);
  }

  // The standard's names. They throw what acquire(), try_acquire() and try_acquire_for() throw. lock() also throws
  // error(deadlock) if this thread has locked this object already (a recursive_mutex counts instead); the lock is then
  // unchanged. A hold that was lost does not count for that, but each lock() still needs an unlock() of its own.
  // unlock() without lock() throws error(hold_lost). It does not report that the hold was lost in the meantime: ask
  // current_hold() first if that matters. It waits as hold::release() does. If a thread ends without unlock(), the lock
  // stays locked until this object is destroyed.
  void lock();
  [[nodiscard]] bool try_lock();
  [[nodiscard]] bool try_lock_for(time_limit timeout) { return lock_within(timeout); }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_within(time_limit::until(time));
  }
  void unlock();

  // The innermost hold of this thread's lock(): its token, remaining time, stop token and guard. Throws
  // error(hold_lost) if this thread has not locked this object, and error(forked) in a forked child.
  const hold& current_hold() const;

  // What the database shows of the lock, in one statement each. The answer may be out of date before the call returns:
  // use it for people, logs and metrics, never to decide who may do what. Only a hold excludes others. These calls
  // change nothing. They throw error: mismatch if the name is stored as another lock (not waiters()); unreachable and
  // others if the database does not answer; closed; forked.
  //
  // True if the lock is held or resting. False if the leases of all holders have expired: an acquire may kill them.
  [[nodiscard]] bool is_locked() const;
  // The lock's holders; for a shared_mutex, each reader. A holder whose lease has expired is listed, with a negative
  // expires_in, until the lease is killed. A lock that rests has an entry with holder_info::rests and a nil hold_id.
  // The entry of a reader or of permits that rest (acquire_options::min_hold) keeps its hold_id.
  [[nodiscard]] std::vector<holder_info> holders() const;
  // The waiting requests in queue order: the first is granted next. A waiter that is not `alive` will be skipped.
  [[nodiscard]] std::vector<waiter_info> waiters() const;

 protected:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit exclusive_lock(std::unique_ptr<primitives::standard_lock> lock) noexcept;
  exclusive_lock(exclusive_lock&& other) noexcept;
  exclusive_lock& operator=(exclusive_lock&& other) noexcept;  // unlocks what it had locked
  ~exclusive_lock();  // unlocks what lock() has locked; the holds of acquire() remain valid

 private:
  bool lock_within(time_limit timeout);

  std::unique_ptr<primitives::standard_lock> lock_;
};

// Not recursive: a second acquire waits for the first hold, even in the same thread; lock() throws error(deadlock).
class ROWLOCK_EXPORT mutex : public exclusive_lock {
 public:
  // name: UTF-8, 1 to 512 bytes, no control characters; compared bytewise. Sends nothing. Throws
  // error(invalid_argument).
  mutex(client db, std::string name, const lock_options& lock = {});
};

ROWLOCK_END_NAMESPACE
