// A lock that is held, and what its holder may ask.
#pragma once

#include <rowlock/config.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace rowlock::client_layer {
class hold_state;
}

ROWLOCK_BEGIN_NAMESPACE

// Why a hold ended before it was released.
enum class loss {
  none,     // it is held, or was released by its owner
  expired,  // its local deadline passed: the lease could not be renewed in time, or its explicit ttl ended
  forced,   // an operator released it by force
  gone,     // the database does not know it any more: its lease was killed, or data was lost in a fail-over
  closed,   // its client was closed
};
ROWLOCK_EXPORT const char* to_string(loss reason) noexcept;

// What became of a release.
enum class release_result {
  released,  // it was held until now, and is free or handed on
  lost,      // it had been lost before; loss() says why
  pending,   // it cannot be freed before a guarded transaction ends; rowlock goes on trying
  unknown,   // no answer in time, or the database refuses; rowlock goes on trying while the lease lives
};
ROWLOCK_EXPORT const char* to_string(release_result result) noexcept;

// Somebody asks the holder of a lock to give it up (admin::request_release). Nothing happens to the hold.
struct release_request {
  std::string reason;
  std::chrono::nanoseconds remaining{
      0};  // how long the asker still waits; then it may take the lock by force
};

// SQL that proves a hold inside the caller's own transaction. Run it before the writes that it guards:
// exactly one row means that the hold stands and that nobody else can be granted the lock before the
// transaction ends. No row means that it does not: roll back. rowlock/guard/*.hpp does this for the drivers.
struct guard_statement {
  std::string sql;                      // placeholders in the dialect's own form
  std::vector<std::string> parameters;  // all text, in order
  // Unless it is empty, run it next, with the same parameters; it must change exactly one row. A Galera
  // cluster needs it, for it compares only what is written.
  std::string write;
};

// Movable, not copyable; one hold is one acquisition. Destroying it releases it.
//
// A hold ends with its client: client::close(), or the end of the last handle, gives back whatever is held,
// and the hold says loss::closed from then on. It does not keep the client alive, for then one that is
// forgotten somewhere would keep connections, threads and a lock. A primitive has a handle, so a hold may
// outlive the primitive that it came from, but not the last client, primitive or wanted of that client: keep
// one of those as long as the hold.
//
// Thread safety: const members may be called from any thread at once; release(), moves and the destructor
// must not run beside other calls on the same object.
class ROWLOCK_EXPORT hold {
 public:
  hold() noexcept;  // holds nothing
  hold(hold&& other) noexcept;
  hold& operator=(hold&& other) noexcept;  // releases what was held before

  // Releases, if still held. Never throws; waits at most options::close_timeout.
  ~hold();

  // True until the hold is released or lost. A true answer is good until remaining() has passed, no longer.
  explicit operator bool() const noexcept { return valid(); }
  bool valid() const noexcept;

  // The fencing token: above that of every earlier hold of this name, unchanged by renewal and re-entry.
  // Holds that share a lock have each their own. Below 2^53. 0 when this object holds nothing.
  std::int64_t token() const noexcept;

  // How much of the lock's capacity it has: of a semaphore the permits, of a shared_mutex 1 for a reader. An
  // exclusive hold has the whole. 0 when this object holds nothing.
  std::int64_t weight() const noexcept;

  // The lock's name, and this acquisition's 128-bit id as 32 hex digits. Empty when this object holds
  // nothing.
  const std::string& name() const noexcept;
  std::string id() const;

  // Time until the hold counts as lost unless it is renewed before; zero when it is not valid.
  // Measured on CLOCK_BOOTTIME from before the last confirmed renewal was sent.
  std::chrono::nanoseconds remaining() const noexcept;

  // Stops when the hold is lost. Callbacks run on a thread of rowlock's, under no lock; keep them short, for
  // the next lost hold's callbacks wait behind them. Not stopped by release().
  std::stop_token stop_token() const noexcept;

  rowlock::loss loss() const noexcept;

  // Stops when somebody asks for the lock; callbacks as those of stop_token(). Where a database has to be
  // asked for news (MariaDB, MySQL) and nobody of this client waits, that is seen with the next renewal.
  std::stop_token release_requested() const;

  // What was asked, the latest. Empty: nothing.
  std::optional<rowlock::release_request> request() const;

  // Gives the lock back. Waits at most options::close_timeout. Never throws for what the database says; the
  // hold is over in each case. A second call returns what the first one did. Throws error(forked) in a child
  // process, error(closed) never: closing the client has released it.
  release_result release();

  // Gives the hold to another process, which takes it on with rowlock::adopt and the text that is returned:
  // within ttl (100 milliseconds to 24 hours), else it is lost to whoever comes next. Here it is over, as
  // after release(). The text is a secret as far as the lock is one; pass it on whole, adopt refuses a part.
  // Throws error: hold_lost when it is not held any more; invalid_argument; contention when a guarded
  // transaction keeps the row; unreachable. The hold stands as before then, unless outcome_unknown() is true:
  // then it is over, and given back.
  std::string hand_over(std::chrono::milliseconds ttl);

  // What rowlock::reclaim needs to take the hold on after this process has died: while it stands here,
  // reclaim refuses it. Empty when this object holds nothing; stale when the hold is lost.
  std::string receipt() const;

  // See rowlock::guard_statement. Throws error(hold_lost) when the hold is known to be lost.
  rowlock::guard_statement guard_statement() const;

  // For rowlock's own primitives.
  explicit hold(std::shared_ptr<client_layer::hold_state> state) noexcept;
  const std::shared_ptr<client_layer::hold_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<client_layer::hold_state> state_;
  bool left_ = false;  // release() was called
  release_result result_ = release_result::lost;
};

ROWLOCK_END_NAMESPACE
