// Several locks of one client, of any kind and mode: all of them or none.
//
//   rowlock::mutex from{db, "account/1"}, to{db, "account/2"};
//   rowlock::shared_mutex rates{db, "rates"};
//   rowlock::counting_semaphore slots{db, "slots", 8};
//   if (auto all = rowlock::try_acquire_all_for(5s, {from, to, shared(rates), permits(slots, 2)})) {
//     all[0].token();
//   }                                                        // all are released, together
//
//                        | all are free    | another holds one of them, or waits for it
//   try_acquire_all      | one transaction | empty; nothing was taken
//   try_acquire_all_for  | one transaction | takes them in the order of their names and waits in the queue of
//   acquire_all          | one transaction | each; releases what it has taken when the time has passed
//
// While a call waits, it holds the locks whose names come first. All calls wait in the order of the names, so they
// never wait for each other in a circle. With a ttl, one more transaction gives all holds leases of their own.
#pragma once

#include <rowlock/counting_semaphore.hpp>
#include <rowlock/options.hpp>
#include <rowlock/shared_mutex.hpp>

#include <cstddef>
#include <utility>

ROWLOCK_BEGIN_NAMESPACE

class election;

// A lock to acquire together with others or asynchronously, and its mode: a mutex or shared_mutex exclusively, an
// election as its leader (construct a term from the hold). A value; it may outlive the object that it was made from. A
// moved-from one may only be assigned to or destroyed.
class ROWLOCK_EXPORT wanted {
 public:
  wanted(const mutex& lock);         // NOLINT(google-explicit-constructor): so that {a, b} is enough
  wanted(const shared_mutex& lock);  // NOLINT(google-explicit-constructor)
  wanted(const election& office);    // NOLINT(google-explicit-constructor)

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN wanted(client db, model::lock_request lock);

  client db_;
  std::shared_ptr<const model::lock_request> lock_;
};

// The lock, to be acquired for reading.
ROWLOCK_EXPORT wanted shared(const shared_mutex& lock);
// `count` permits, to be acquired: 1 to the semaphore's capacity, otherwise error(invalid_argument).
ROWLOCK_EXPORT wanted permits(const counting_semaphore& lock, std::int64_t count = 1);

// The holds of several locks, in the order of the request. Each has its own token, stop token and guard, and can be
// lost on its own. Movable; destroying it releases all in the time of one release. Thread safety: as a hold's.
class ROWLOCK_OWNER hold_set {
 public:
  hold_set() noexcept;                             // empty
  hold_set(hold_set&& other) noexcept;             // other is then empty
  hold_set& operator=(hold_set&& other) noexcept;  // releases the previous holds
  ~hold_set();

  // True while every hold is valid. An empty set is false.
  explicit operator bool() const noexcept { return valid(); }
  bool valid() const noexcept;

  std::size_t size() const noexcept { return holds_.size(); }
  const hold& operator[](std::size_t at) const noexcept { return holds_[at]; }
  auto begin() const noexcept { return holds_.begin(); }
  auto end() const noexcept { return holds_.end(); }

  // Moves one hold out; an empty hold remains in its place.
  hold take(std::size_t at) noexcept { return std::move(holds_[at]); }

  // Releases all holds; waits at most options::close_timeout. Result i is what hold i's release() would return. Throws
  // error(forked) in a forked child.
  std::vector<release_result> release();

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit hold_set(std::vector<hold> holds) noexcept;

  std::vector<hold> holds_;
};

// If one of these calls does not return all holds, it keeps none: the holds that it had taken are released in the
// background.
//
// how.ttl and how.min_hold apply to each hold and begin when all are granted: with a ttl all holds end at the same
// time, and none is renewed. While the call waits, the holds that it has taken are renewed; if it gives them back,
// their locks have no minimum hold time. how.detect_deadlock also finds circles that include locks that this thread
// held before the call.
//
// Waits for ever if necessary. Throws what mutex::acquire throws, and error: mismatch if the stored lock of
// one of the names has other properties; invalid_argument for an empty list, a name that occurs twice, or
// locks of more than one client.
ROWLOCK_EXPORT hold_set acquire_all(const std::vector<wanted>& locks, const acquire_options& how = {});

// Empty: one of the locks was not available at once. The call waits up to options::statement_timeout for a row that
// another transaction keeps locked; then that lock counts as not available. Throws also error: unreachable and others,
// as mutex::try_acquire.
ROWLOCK_EXPORT hold_set try_acquire_all(const std::vector<wanted>& locks, const acquire_options& how = {});

// One time limit for all; zero or less is try_acquire_all. Empty: the time passed or stop was requested. Throws as
// try_acquire_all if the database could not be reached when the time passed, unless the call stood in a lock's queue:
// then the set is empty.
ROWLOCK_EXPORT hold_set try_acquire_all_for(time_limit timeout, const std::vector<wanted>& locks,
                                            const acquire_options& how = {});
template <class Clock, class Duration>
hold_set try_acquire_all_until(const std::chrono::time_point<Clock, Duration>& time,
                               const std::vector<wanted>& locks, const acquire_options& how = {}) {
  return try_acquire_all_for(time_limit::until(time), locks, how);
}

ROWLOCK_END_NAMESPACE
