// A mutex that the thread which holds it may acquire again, without a round trip.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::primitives {
class recursive_lock;
}

ROWLOCK_BEGIN_NAMESPACE

// The same lock in the database as a rowlock::mutex of that name. Re-entry is by client, name and thread: two
// recursive_mutex objects of one client and name are one lock. Each re-entry returns a hold with the same
// token and id; the lock is given back when the last of them is released. A lost hold is not re-entered:
// acquire then starts anew.
//
// A thread is this very one: a later one, to which the system gives the same std::thread::id, holds nothing
// of its. After fork() the child holds nothing either.
//
// Thread safety: as rowlock::mutex.
class ROWLOCK_EXPORT recursive_mutex {
 public:
  recursive_mutex(client db, std::string name, const lock_options& lock = {});  // as mutex
  ~recursive_mutex();
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  const std::string& name() const noexcept;

  // As mutex's, but for re-entry. An explicit ttl given on re-entry is ignored: the hold keeps its own.
  hold acquire(const acquire_options& how = {});
  std::optional<hold> try_acquire(const acquire_options& how = {});
  std::optional<hold> try_acquire_for(time_limit timeout, const acquire_options& how = {});

  void lock();
  bool try_lock();
  bool try_lock_for(time_limit timeout) { return lock_within(timeout); }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return lock_within(time_limit::until(time));
  }
  void unlock();  // undoes one lock(); throws error(hold_lost) when this thread has none left

  // The innermost hold behind lock(). Throws error(hold_lost) when this object is not locked by this thread.
  const hold& current_hold() const;

  // How often this thread holds it now, through any object of this client and name; 0 when it was lost.
  std::size_t depth() const;

 private:
  bool lock_within(time_limit timeout);

  std::unique_ptr<primitives::recursive_lock> lock_;
};

ROWLOCK_END_NAMESPACE
