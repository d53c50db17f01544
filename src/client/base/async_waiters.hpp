// The waits of a client for which no thread blocks: their deadlines, and the queue of those that are settled.
// One thread calls the executors of the waits' callers. A slow executor delays only the executors behind it.
#pragma once

#include "client/base/linked_list.hpp"
#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"
#include "model/call_queue.hpp"

#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

// A call of an executor. Where nothing may fail later, this object is allocated beforehand.
class executor_call {
 public:
  executor_call() = default;
  executor_call(const executor_call&) = delete;
  executor_call& operator=(const executor_call&) = delete;
  virtual ~executor_call() = default;

  virtual void deliver() noexcept = 0;

  std::shared_ptr<executor_call> next_in_list{};  // see linked_list
};

// A wait that is settled once, and then calls an executor.
class async_wait : public executor_call {
 public:
  virtual void give_up() noexcept = 0;  // the time is up
  virtual void refuse() noexcept = 0;   // the client is closed

  std::shared_ptr<async_wait> next_left{};  // for linked_list, in close()
};

// Thread-safe. Calls no function of a wait under the mutex. The last reference to a wait is dropped only on
// the thread that runs run() or on a caller's, because the caller's objects are destroyed with the wait.
class async_waiters {
 public:
  // until: when the wait's time is up. Empty: never. Returns false if this object is closed. This function
  // allocates what the end of the wait needs; no other function needs memory.
  bool add(std::shared_ptr<async_wait> wait, std::optional<instant> until);
  // Changes when the wait's time is up. Does nothing if the wait is settled or was removed.
  void set_deadline(const async_wait& wait, instant until) noexcept;
  // The wait is settled; its executor will be called. Call this once for each wait that was added, unless
  // remove() came first.
  void settled(const async_wait& wait) noexcept;
  // The wait was abandoned: no executor is called.
  void remove(const async_wait& wait) noexcept;

  // Has the thread make, in its turn, a call that belongs to no wait. Does nothing if `call` is null. Once
  // the thread has ended, the caller of post() makes the call.
  void post(std::shared_ptr<executor_call> call) noexcept;

  // Ends the waits whose time is up. Returns the first deadline of the others.
  std::optional<instant> end_overdue(instant now) noexcept;

  void run() noexcept;  // the thread's body; ends after close(), once the last executor was called
  // The waits that are left end with error(closed).
  void close() noexcept;

 private:
  using deadlines = std::set<std::pair<instant, const async_wait*>>;
  struct deadline_entry {
    std::shared_ptr<async_wait> wait;
    std::optional<instant> until;      // the key in deadlines_
    deadlines::node_type no_deadline;  // the node for deadlines_, while the wait is not in it
  };

  std::shared_ptr<async_wait> take(const async_wait& wait) noexcept ROWLOCK_REQUIRES(mutex_);
  void stop_if_done() noexcept ROWLOCK_REQUIRES(mutex_);
  void set(deadline_entry& of, instant until) noexcept ROWLOCK_REQUIRES(mutex_);
  void forget_deadline(deadline_entry& of, const async_wait& wait) noexcept ROWLOCK_REQUIRES(mutex_);

  model::annotated_mutex mutex_;
  std::unordered_map<const async_wait*, deadline_entry> waiting_ ROWLOCK_GUARDED_BY(mutex_);
  deadlines deadlines_ ROWLOCK_GUARDED_BY(mutex_);
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  model::call_queue<linked_list<executor_call>> calls_;
};

}  // namespace rowlock::client_layer
