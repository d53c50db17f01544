// A mutual exclusion lock with a name, for all processes that use the same database.
//
//               | free       | held by another    | its holder's lease expired      | held by this client
//   try_acquire | granted    | empty              | holder killed, granted          | empty
//   acquire     | granted    | waits its turn     | holder killed, then in order    | waits its turn
//   release     | lost       | lost               | lost once another was granted,  | released, or handed to
//               |            |                    | else released                   | the first waiter
//   renewal     | -          | -                  | refused: a lease dies once      | prolonged
//
// Not promised: that a holder whose process was stopped, or whose machine's clock ran slow by more than the
// margin, notices before somebody else is granted. Then the token and the guard (hold::guard_statement)
// protect the data.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::primitives {
class standard_lock;
}

ROWLOCK_BEGIN_NAMESPACE

class wanted;

// Lockable and TimedLockable, so std::unique_lock and std::scoped_lock work.
//
// Not recursive: a second acquire waits for the first hold, also in one thread. FIFO among all waiters of all
// processes. Thread safety: every member may be called from any thread at once, unlock() and current_hold()
// only by the thread that locked.
class ROWLOCK_EXPORT mutex {
 public:
  // name: UTF-8, 1 to 512 bytes, no control characters; compared bytewise. Throws error(invalid_argument),
  // also for the lock's options. Sends nothing.
  mutex(client db, std::string name, const lock_options& lock = {});
  ~mutex();  // unlocks what lock() has locked; holds of acquire() live on
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  const std::string& name() const noexcept;

  // Waits for its turn, for ever if need be. A connection that breaks meanwhile does not end the wait.
  // Throws error: mismatch, cancelled, closed, forked, and what the database refuses for good (privilege,
  // not_migrated). Whenever this, or one of the following, does not return a hold, nothing is held: a place
  // in the queue, or a grant that came too late, is given back behind the caller's back.
  hold acquire(const acquire_options& how = {});

  // Does not wait for a holder. Empty: somebody holds it, or waits for it. Throws also error: unreachable,
  // and contention where nobody is known to hold it and another transaction has kept its row locked for 800
  // ms.
  std::optional<hold> try_acquire(const acquire_options& how = {});

  // Waits at most that long. Empty: it was not granted by then, and nothing of the attempt remains. Throws
  // as try_acquire where the database gave failures alone, and so not who holds it. Zero or less is
  // try_acquire; more than nanoseconds can count, such as hours::max(), is for ever.
  std::optional<hold> try_acquire_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                                        const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), how);
  }

  // The standard's names. lock() throws error(deadlock) when this thread has locked this object already.
  // unlock() without lock() throws error(hold_lost); a hold that was lost meanwhile is unlocked in silence:
  // ask current_hold() before, where that matters. What lock() and its siblings throw else is acquire()'s,
  // and then this object is locked by this thread no more than before. What a thread has locked when it ends
  // stays locked until this object is destroyed; no other thread can unlock it.
  void lock();
  bool try_lock();
  bool try_lock_for(time_limit timeout) { return lock_within(timeout); }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_within(time_limit::until(time));
  }
  void unlock();

  // The hold behind lock(): its token, remaining time, stop token and guard. Throws error(hold_lost) when
  // this object is not locked.
  const hold& current_hold() const;

 private:
  friend class wanted;  // of acquire_all.hpp
  bool lock_within(time_limit timeout);

  std::unique_ptr<primitives::standard_lock> lock_;
};

ROWLOCK_END_NAMESPACE
