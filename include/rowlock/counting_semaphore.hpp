// A number of permits with a name, for all processes that use the same database.
//
//                   | enough are free, nobody waits | too few are free | others wait
//   try_acquire(n)  | granted                       | empty hold       | empty hold
//   acquire(n)      | granted                       | waits its turn   | waits its turn
//   drain()         | takes all that are free       | if none is free, | empty hold
//                   |                               | empty hold       |
//
// Requests are granted in the order in which they were made, unless lock_options::fair is false: small requests do not
// overtake a large one, so a large request never starves. A vanished client's permits become free when its lease
// expires. mutex.hpp says what is promised.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/lock_info.hpp>

ROWLOCK_BEGIN_NAMESPACE

// Only the hold that took permits can release them, unlike the standard's semaphore, so they cannot be lost or doubled.
// Thread safety: every member may be called from any thread at once, except that release() must not run concurrently
// with other calls on the same hold. Movable, as mutex.
class ROWLOCK_EXPORT counting_semaphore {
 public:
  // capacity: 1 to 1,000,000,000; the same wherever the name is used. If the stored capacity differs, the
  // first call that reads the database throws error(mismatch). lock: fair = false lets a small request
  // overtake a large one; a delay is not allowed. Sends nothing. Throws error(invalid_argument).
  counting_semaphore(client db, std::string name, std::int64_t capacity, const lock_options& lock = {});
  counting_semaphore(counting_semaphore&& other) noexcept;
  counting_semaphore& operator=(counting_semaphore&& other) noexcept;
  ~counting_semaphore();  // its holds remain valid

  const std::string& name() const noexcept;
  std::int64_t capacity() const noexcept;  // what this object expects

  // As the functions of mutex, for a hold of that many permits: 1 to capacity(), otherwise error(invalid_argument).
  hold acquire(std::int64_t permits = 1, const acquire_options& how = {});
  hold try_acquire(std::int64_t permits = 1, const acquire_options& how = {});
  hold try_acquire_for(time_limit timeout, std::int64_t permits = 1, const acquire_options& how = {});
  template <class Clock, class Duration>
  hold try_acquire_until(const std::chrono::time_point<Clock, Duration>& time, std::int64_t permits = 1,
                         const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), permits, how);
  }

  // Takes all free permits at once; hold::weight() says how many. Empty: none is free, or somebody waits.
  hold drain(const acquire_options& how = {});

  // Gives back that many permits of the hold and keeps the rest: hold::weight() falls by `permits`; its id and token
  // stay the same. Waiters are granted what became free in the same commit. If an answer is lost, the request is
  // repeated for as long as a call may take; it never gives back twice.
  // Throws error: invalid_argument for a hold of another lock, kind of lock or client, and unless 1 <= permits < weight
  // (hold::release() gives back all); hold_lost if the hold is no longer valid; contention if a guarded transaction of
  // this hold (SQLite: any that writes) stays open for as long as a call may take; unreachable; forked. The hold is
  // then unchanged, unless outcome_unknown(): then weight() has fallen, and the permits are free at the latest when the
  // hold is released. Do not repeat the call.
  void release(hold& held, std::int64_t permits);

  // How many permits are free, as last written. Only a hint: the number may change at any time, and permits of a
  // vanished client, and those that rest (acquire_options::min_hold), count as taken until their lease is killed.
  // Throws error: mismatch, unreachable and others.
  [[nodiscard]] std::int64_t available() const;

  // Changes the stored capacity for everybody. Waiters are granted what has become free. If more permits are in use
  // than the new capacity, none is taken away, and none granted until enough are released. Waiters that want more than
  // the new capacity, and all objects made with the old one, get error(mismatch).
  // If nobody has used the name yet, its capacity is the new one from the start. Throws error: invalid_argument unless
  // it is 1 to 1,000,000,000; mismatch if the name is no semaphore; contention if somebody keeps its row longer than
  // options::statement_timeout; unreachable; read_only if options::read_only is set. capacity() is then unchanged, but
  // a name that nobody had used may exist from then on, with the new capacity. If outcome_unknown(), the stored
  // capacity may be the new one; the call may be repeated.
  void resize(std::int64_t capacity);

  // Adds `difference` to the stored capacity, and returns the new one, which is capacity() from then on. Concurrent
  // calls all count. A name that nobody has used yet begins with capacity(). Waiters and holders are treated as by
  // resize(). Throws error as resize(), and invalid_argument if the new capacity would be outside 1 to 1,000,000,000.
  // Nothing is then changed, except that a name which nobody had used may exist from then on, with capacity(); unless
  // outcome_unknown(): then the difference may have been added. Read the stored capacity (admin::show) before you
  // repeat the call: a repeated call counts twice.
  std::int64_t resize_by(std::int64_t difference);

  // As the functions of mutex. available() says whether a permit is free.
  [[nodiscard]] std::vector<holder_info> holders() const;
  [[nodiscard]] std::vector<waiter_info> waiters() const;

 private:
  friend struct primitives::access;

  std::unique_ptr<primitives::semaphore_lock> lock_;
};

ROWLOCK_END_NAMESPACE
