// A read-write lock with a name, for all processes that use the same database: one writer, or many readers.
//
//                       | free    | held by readers       | held by a writer | somebody waits
//   try_acquire         | granted | empty hold            | empty hold       | empty hold
//   acquire             | granted | waits for all of them | waits its turn   | waits its turn
//   try_acquire_shared  | granted | granted               | empty hold       | empty hold
//   acquire_shared      | granted | granted               | waits its turn   | waits its turn
//
// Requests are granted in the order in which they were made, unless lock_options::fair is false: later readers do not
// overtake a waiting writer, and adjacent readers in the queue are granted together. A holder whose lease has expired
// does not count: the next caller kills it. mutex.hpp says what is promised and what is not.
#pragma once

#include <rowlock/mutex.hpp>

ROWLOCK_BEGIN_NAMESPACE

// The members of exclusive_lock acquire it to write. It is also SharedLockable and SharedTimedLockable, so
// std::shared_lock works. downgrade() and try_upgrade() must not run concurrently with other calls on the same hold.
class ROWLOCK_EXPORT shared_mutex : public exclusive_lock {
 public:
  shared_mutex(client db, std::string name, const lock_options& lock = {});  // as mutex

  // Acquires the lock to read. Every call returns a hold with its own token. If a thread calls this twice and a writer
  // requests the lock in between, the thread and the writer wait for each other; lock_shared() avoids this.
  hold acquire_shared(const acquire_options& how = {});
  hold try_acquire_shared(const acquire_options& how = {});
  hold try_acquire_shared_for(time_limit timeout, const acquire_options& how = {});
  template <class Clock, class Duration>
  hold try_acquire_shared_until(const std::chrono::time_point<Clock, Duration>& time,
                                const acquire_options& how = {}) {
    return try_acquire_shared_for(time_limit::until(time), how);
  }

  // Makes the writer a reader in one step; its id and token stay the same. Readers at the head of the queue join it,
  // and no waiting writer gets in between. A hold that is a reader already is unchanged. If an answer is lost, the
  // request is repeated for as long as a call may take.
  // Throws error: hold_lost if the hold is no longer valid; invalid_argument for an empty hold or one of another lock,
  // kind of lock or client; contention if a guarded transaction of this hold (SQLite: any that writes) stays open for
  // as long as a call may take; unreachable; forked. The hold is then unchanged, unless outcome_unknown(): then it
  // counts as a reader's, which is safe in either case, and the call may be repeated.
  void downgrade(hold& held);

  // Makes the reader the writer in one step if there is no other reader and no waiter. True: it is the writer now, with
  // the same id and a new token; a writer stays as it is. False: it is still a reader. Never waits for other readers,
  // because two readers that wait to upgrade would wait for each other. Throws as downgrade(). If outcome_unknown(),
  // the lock may be unavailable to all others until this hold is released; its token is still the reader's.
  [[nodiscard]] bool try_upgrade(hold& held);

  // The standard's names. A thread that has locked this object to read may lock_shared() it again: that is counted,
  // sends nothing and does not queue behind a writer. lock_shared() throws error(deadlock) if this thread has locked
  // the object to write; lock() throws it if this thread has locked the object to write or to read. unlock_shared()
  // throws error(hold_lost) if this thread has not locked it to read. A hold that was lost is neither entered again nor
  // a reason for error(deadlock): the thread locks anew. Each lock still needs its own unlock, which belongs to the
  // latest hold that the thread has locked in that mode.
  void lock_shared();
  [[nodiscard]] bool try_lock_shared();
  [[nodiscard]] bool try_lock_shared_for(time_limit timeout) { return lock_shared_within(timeout); }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_shared_within(time_limit::until(time));
  }
  void unlock_shared();

  // The latest hold that this thread has locked and not unlocked. Throws error(hold_lost) if there is none, and
  // error(forked) in a forked child.
  const hold& current_hold() const;

 private:
  bool lock_shared_within(time_limit timeout);
};

ROWLOCK_END_NAMESPACE
