// Several locks of one client, of any kind and mode: all of them or none.
//
//   rowlock::mutex from{db, "account/1"}, to{db, "account/2"};
//   rowlock::shared_mutex rates{db, "rates"};
//   rowlock::counting_semaphore slots{db, "slots", 8};
//   if (auto all = rowlock::try_acquire_all_for(5s, {from, to, shared(rates), permits(slots, 2)})) {
//     (*all)[0].token();
//   }                                                        // all are released, together
//
//                        | all are free    | one is held by another, or waited for
//   try_acquire_all      | one transaction | empty; nothing was taken
//   try_acquire_all_for  | one transaction | takes them in the order of their names, waiting for each in its
//   acquire_all          |                 | queue; what it has when the time is up, it gives back
//
// Callers that ask for the same locks in different orders never wait for each other in a circle, for they all
// wait in the order of the names. That holds among calls of this header; a program that holds one lock and
// then waits for another by itself can still get into one. While it waits a call holds the locks whose names
// come first.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/counting_semaphore.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/shared_mutex.hpp>
#include <rowlock/time_limit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace rowlock::client_layer {
struct joint_request;
}

ROWLOCK_BEGIN_NAMESPACE

class election;

// One lock of several, and how it is wanted. A mutex or shared_mutex by itself: exclusively; an election by
// itself: to be its leader, as term{hold}. A value; the object that it was made from need not outlive it.
class ROWLOCK_EXPORT wanted {
 public:
  wanted(const mutex& lock);         // NOLINT(google-explicit-constructor): so that {a, b} is enough
  wanted(const shared_mutex& lock);  // NOLINT(google-explicit-constructor)
  wanted(const election& office);    // NOLINT(google-explicit-constructor)

  // For rowlock's own primitives.
  wanted(client db, client_layer::joint_request lock);
  const client& db() const noexcept { return db_; }
  const client_layer::joint_request& lock() const noexcept { return *lock_; }

 private:
  client db_;
  std::shared_ptr<const client_layer::joint_request> lock_;
};

// To read.
ROWLOCK_EXPORT wanted shared(const shared_mutex& lock);
// So many permits; 1 to its capacity, else error(invalid_argument).
ROWLOCK_EXPORT wanted permits(const counting_semaphore& lock, std::int64_t count = 1);

// The holds of several locks, in the order in which they were asked for. Each stands and falls by itself: it
// has its own token, stop token and guard. Movable; destroying it releases what it still has, all at once,
// which takes no longer than to release one.
//
// Thread safety: as a hold's.
class ROWLOCK_EXPORT hold_set {
 public:
  hold_set() noexcept;
  hold_set(hold_set&& other) noexcept;
  hold_set& operator=(hold_set&& other) noexcept;  // releases what was held before
  ~hold_set();

  // True while every one of them stands.
  bool valid() const noexcept;
  explicit operator bool() const noexcept { return valid(); }

  std::size_t size() const noexcept { return holds_.size(); }
  const hold& operator[](std::size_t at) const noexcept { return holds_[at]; }
  auto begin() const noexcept { return holds_.begin(); }
  auto end() const noexcept { return holds_.end(); }

  // Moves one out, which is then on its own; what is left in its place holds nothing.
  hold take(std::size_t at) noexcept { return std::move(holds_[at]); }

  // Result i is hold i's, as hold::release says it. Waits at most options::close_timeout. Throws
  // error(forked) in a child process.
  std::vector<release_result> release();

  // For rowlock's own primitives.
  explicit hold_set(std::vector<hold> holds) noexcept;

 private:
  std::vector<hold> holds_;
};

// Whenever one of these does not return all holds, it holds none: what it had taken is given back, without
// waiting for that.
//
// Waits for ever if need be. Throws error: cancelled when stopped; what mutex::acquire throws; mismatch for
// any one of them, and then none is held; invalid_argument for no lock at all, a name that comes twice, or
// locks of more than one client.
ROWLOCK_EXPORT hold_set acquire_all(const std::vector<wanted>& locks, std::stop_token stop = {});

// Empty: one of them was not to be had at once, and none is held. Throws also error(unreachable).
ROWLOCK_EXPORT std::optional<hold_set> try_acquire_all(const std::vector<wanted>& locks);

// One time limit for all of them together; zero or less is try_acquire_all. Empty: the time was up, or the
// wait was stopped, and nothing of the attempt remains.
ROWLOCK_EXPORT std::optional<hold_set> try_acquire_all_for(time_limit timeout,
                                                           const std::vector<wanted>& locks,
                                                           std::stop_token stop = {});

ROWLOCK_END_NAMESPACE
