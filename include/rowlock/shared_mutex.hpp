// A read-write lock with a name, for all processes that use the same database: one writer, or many readers.
//
//                        | free    | read by others        | written by another | somebody waits for it
//   try_acquire          | granted | empty                 | empty              | empty
//   acquire              | granted | waits for all of them | waits its turn     | waits its turn
//   try_acquire_shared   | granted | granted               | empty              | empty
//   acquire_shared       | granted | granted               | waits its turn     | waits its turn
//
// Granted strictly in the order of asking: a writer that waits is not overtaken by later readers, and readers
// that stand next to each other in the queue are granted together. A holder whose lease has expired does not
// count: it is killed by whoever comes next. What is promised, and what is not, is said in mutex.hpp.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::primitives {
class shared_lock;
}

ROWLOCK_BEGIN_NAMESPACE

class wanted;

// SharedLockable and SharedTimedLockable as well as TimedLockable, so std::shared_lock, std::unique_lock and
// std::scoped_lock work.
//
// Thread safety: every member may be called from any thread at once, the unlocking ones and current_hold()
// only by the thread that locked. downgrade() and try_upgrade() must not run beside other calls on the same
// hold.
class ROWLOCK_EXPORT shared_mutex {
 public:
  shared_mutex(client db, std::string name, const lock_options& lock = {});  // as mutex
  ~shared_mutex();  // unlocks what lock() and lock_shared() have locked
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  const std::string& name() const noexcept;

  // To write: nobody else holds it. As mutex's.
  hold acquire(const acquire_options& how = {});
  std::optional<hold> try_acquire(const acquire_options& how = {});
  std::optional<hold> try_acquire_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                                        const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), how);
  }

  // To read: nobody writes. Each reader has a hold and a token of its own. Every call is a hold: a thread
  // that acquires twice waits for a writer that came in between, and that one for it; lock_shared() knows
  // better.
  hold acquire_shared(const acquire_options& how = {});
  std::optional<hold> try_acquire_shared(const acquire_options& how = {});
  std::optional<hold> try_acquire_shared_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<hold> try_acquire_shared_until(const std::chrono::time_point<Clock, Duration>& time,
                                               const acquire_options& how = {}) {
    return try_acquire_shared_for(time_limit::until(time), how);
  }

  // Makes the writer a reader in one step; its id and token stay. Readers at the head of the queue join it,
  // and a writer that waits does not get in between. Of a hold that reads already it does nothing. An answer
  // that was lost is asked for again, for as long as a call may take.
  // Throws error: hold_lost when it is not held any more; invalid_argument for a hold of another lock;
  // contention when a guarded transaction of this hold's is open; unreachable. The hold is then what it was;
  // but where outcome_unknown() is true it counts as a reader's, which it is in each case, and the same call
  // may be made again.
  void downgrade(hold& held);

  // Makes the reader the writer in one step, where nobody else reads or waits. True: it writes, its id stays,
  // and its token is a new one. False: it reads on. Never waits, for two that upgrade would wait for each
  // other. Throws as downgrade() does; where outcome_unknown() is true then, nobody else may get in before
  // the hold is released, and its token is still the reader's.
  bool try_upgrade(hold& held);

  // The standard's names, as mutex's. lock() throws error(deadlock) when this thread has locked this object
  // already, in whatever way, and lock_shared() when it has locked it to write. A thread may read again
  // through the same object: that is counted, costs no round trip, and does not queue behind a writer.
  void lock();
  bool try_lock();
  bool try_lock_for(time_limit timeout) { return lock_within(timeout); }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_within(time_limit::until(time));
  }
  void unlock();

  void lock_shared();
  bool try_lock_shared();
  bool try_lock_shared_for(time_limit timeout) { return lock_shared_within(timeout); }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_shared_within(time_limit::until(time));
  }
  void unlock_shared();

  // The hold behind this thread's lock() or lock_shared(). Throws error(hold_lost) when there is none.
  const hold& current_hold() const;

 private:
  friend class wanted;  // of acquire_all.hpp
  friend ROWLOCK_EXPORT wanted shared(const shared_mutex& lock);
  bool lock_within(time_limit timeout);
  bool lock_shared_within(time_limit timeout);

  std::unique_ptr<primitives::shared_lock> lock_;
};

ROWLOCK_END_NAMESPACE
