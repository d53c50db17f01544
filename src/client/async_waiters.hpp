// The acquires of this process that no thread waits for: until when, and whose turn it is to be told. They
// are told on a thread of the async waiters's own, for that calls the executors of their callers: one that
// takes long holds up those behind it and nothing else.
#pragma once

#include "client/time_source.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

class async_acquire;

// Thread-safe. Calls nobody under its mutex, and no last reference to an acquire goes but on its own thread
// or its caller's: with it goes what belongs to the caller.
class async_waiters {
 public:
  // False: the async waiters is closed.
  bool add(std::shared_ptr<async_acquire> wait);
  // It has come to its end, and is told; once for each that was added, unless remove() comes first.
  void settled(const async_acquire& wait);
  // Nobody is to be told.
  void remove(const async_acquire& wait);

  // Of those whose time is up. Returns the first deadline of the others.
  std::optional<instant> end_overdue(instant now);

  void run();  // the thread's body, until it is closed and the last one has been told
  // Those who still wait are told error(closed).
  void close();

 private:
  using seat = std::shared_ptr<async_acquire>;

  seat take(const async_acquire& wait);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const async_acquire*, seat> waiting_;
  std::set<std::pair<instant, const async_acquire*>> deadlines_;
  std::deque<seat> settled_;
  bool closed_ = false;
};

}  // namespace rowlock::client_layer
