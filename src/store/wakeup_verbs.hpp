// Wake-ups, by which clients tell each other that something may have changed. They are hints, never proof.
#pragma once

#include "model/for_stores.hpp"
#include "model/ids.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace rowlock::store {

using model::hold_id;
using model::lease_id;

// Tells a client that something may have changed for it.
struct wakeup {
  lease_id client;
  hold_id granted{};  // the client's waiter that was granted; nil: anything may have changed

  auto operator<=>(const wakeup&) const = default;
};

// The result of session::poll_wakeups().
enum class wakeup_poll : std::uint8_t {
  none,
  some,
  unknown,  // the database keeps no count: the waiters must be looked up
};

// The clients of these wake-ups, each once, sorted.
ROWLOCK_FOR_STORES std::vector<lease_id> clients_of(std::span<const wakeup> told);

// The rules for calling these verbs are those of session (store.hpp).
class wakeup_verbs {
 public:
  virtual void listen(lease_id client) = 0;                     // from now on wait() receives its wake-ups
  virtual void send_wakeups(std::span<const wakeup> told) = 0;  // asynchronous commit
  // Waits until something may have changed for the client, end_wait() is called or the timeout passes.
  // Returns true if something may have changed. Throws error(unreachable) if the connection is gone.
  virtual bool wait(std::chrono::nanoseconds timeout) = 0;
  // As wait(), for a client that has holds, but no waiter and no interest in the offices of elections. If
  // every commit wakes every client, as with SQLite, it may return half a second late, because only a forced
  // release or a release request concerns such a client.
  virtual bool wait_holding(std::chrono::nanoseconds timeout) { return wait(timeout); }
  // As wait(), for a client that has no waiter, no hold and no interest in offices, so that no change
  // concerns it. If every commit wakes every client, only end_wait(), interrupt() and the timeout end this
  // wait; the next wait() reports what changed meanwhile.
  virtual bool wait_idle(std::chrono::nanoseconds timeout) { return wait(timeout); }
  // The waiters that the latest wake-ups named as granted; each is returned once. Empty: anything may have
  // changed, because not every database names the waiters, and earlier versions of rowlock did not.
  virtual std::vector<hold_id> woken_waiters() { return {}; }
  // For database::must_poll(), where only end_wait() ends wait(): whether something may have changed since
  // the last call for the clients that this session listens for. At most one small statement.
  virtual wakeup_poll poll_wakeups() { return wakeup_poll::unknown; }
  virtual void end_wait() noexcept = 0;

 protected:
  ~wakeup_verbs() = default;
};

}  // namespace rowlock::store
