// A number of permits with a name, for all processes that use the same database.
//
//                    | as many are free, nobody waits | fewer are free  | others wait
//   try_acquire(n)   | granted                        | empty           | empty
//   acquire(n)       | granted                        | waits its turn  | waits its turn
//   drain()          | all that are free              | -               | empty
//
// Granted strictly in the order of asking: a large request is not overtaken by small ones, so it is never
// starved. What a client that vanished held comes back with its lease. What is promised, and what is not, is
// said in mutex.hpp.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::primitives {
class semaphore_lock;
}

ROWLOCK_BEGIN_NAMESPACE

class wanted;

// Unlike the standard's, permits are given back by the hold that took them, all of it at once, and by nobody
// else; so they cannot be lost or doubled. Thread safety: every member may be called from any thread at once.
class ROWLOCK_EXPORT counting_semaphore {
 public:
  // capacity: 1 to 1,000,000,000, the same wherever the name is used: another than the stored one is
  // error(mismatch), thrown by the first call that asks the database. fair: false lets a small request
  // overtake a large one that waits; see lock_options::fair. Sends nothing. Throws error(invalid_argument).
  counting_semaphore(client db, std::string name, std::int64_t capacity, bool fair = true);
  ~counting_semaphore();  // holds live on
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  const std::string& name() const noexcept;
  std::int64_t capacity() const noexcept;  // as this object asks for it

  // As mutex's, for a hold of `permits` permits; 1 to capacity(), else error(invalid_argument).
  hold acquire(std::int64_t permits = 1, const acquire_options& how = {});
  std::optional<hold> try_acquire(std::int64_t permits = 1, const acquire_options& how = {});
  std::optional<hold> try_acquire_for(time_limit timeout, std::int64_t permits = 1,
                                      const acquire_options& how = {});
  template <class Clock, class Duration>
  std::optional<hold> try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                                        std::int64_t permits = 1, const acquire_options& how = {}) {
    return try_acquire_for(time_limit::until(time), permits, how);
  }

  // Takes all permits that are free, at once; hold::weight() says how many. Empty: none is, or somebody
  // waits.
  std::optional<hold> drain(const acquire_options& how = {});

  // How many are free, as last written: permits of the dead count until somebody comes. A hint, for it may
  // have changed when it is read. Changes nothing. Throws error: mismatch, unreachable and such.
  std::int64_t available() const;

  // Changes the stored capacity, for all. Those who wait are granted what has become free. Below what is in
  // use nothing is taken away, and nothing granted until it fits again; who waits for more than there is gets
  // error(mismatch), as does every object that was made with the old capacity. Throws error: mismatch when
  // the name is no semaphore, contention when somebody keeps its row for longer than
  // options::statement_timeout, unreachable. capacity() is then what it was; where outcome_unknown() is true
  // the stored one may be the new one, and the call may be made again.
  void resize(std::int64_t capacity);

 private:
  friend ROWLOCK_EXPORT wanted permits(const counting_semaphore& lock,
                                       std::int64_t count);  // acquire_all.hpp

  std::unique_ptr<primitives::semaphore_lock> lock_;
};

ROWLOCK_END_NAMESPACE
