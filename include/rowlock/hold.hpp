// A lock that is held, and what its holder can ask.
#pragma once

#include <rowlock/ids.hpp>
#include <rowlock/time_limit.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// Why a hold ended before its release.
enum class loss {
  none,     // it is held, or its owner released or transferred it
  expired,  // the lease could not be renewed in time, or the explicit ttl ended
  forced,   // it was released by force, or reclaimed by another process
  gone,     // the database no longer has it: its lease was killed, or a fail-over lost data
  closed,   // its client was closed
};
ROWLOCK_EXPORT const char* to_string(loss reason) noexcept;

enum class release_result {
  released,  // it was held until now; the lock is free, rests or was handed to waiters
  lost,      // it had been lost before, and loss() says why if that is known; or it is empty
  pending,   // a transaction, such as a guarded one, keeps the lock's row; rowlock keeps trying
  unknown,   // no answer in time, or the database refuses; rowlock keeps trying while the lease lives
};
ROWLOCK_EXPORT const char* to_string(release_result result) noexcept;

// A request to release the lock (admin::request_release), which the holder may decline. It does not change
// the hold.
struct release_request {
  std::string reason;
  std::chrono::nanoseconds remaining{0};  // until the requester may release the lock by force
};

// SQL that proves a hold inside the caller's own transaction, in the same database; run it before the reads and writes
// that it guards. If it returns one row (and `write`, if there is one, changes one), the hold stands, and until the
// transaction ends nobody can be granted what the hold excludes: the lock, or for a shared hold the lock exclusively.
// If it returns none, the hold is over, or the transaction's snapshot is older than the hold; roll back. The SQL
// depends on the hold's mode: get it anew for each transaction. rowlock/guard/*.hpp does this for the drivers, and says
// on which conditions, such as savepoints, the proof depends.
struct guard_statement {
  std::string sql;                      // with the placeholders of the dialect
  std::vector<std::string> parameters;  // all text, in order
  // If not empty, run it next, with the same parameters; it must change exactly one row. A Galera cluster, and a MySQL
  // group with several primaries, need it, because they detect conflicts only between writes.
  std::string write;
};

// One acquisition of a lock. Movable, not copyable. Destroying it releases the lock.
//
// A hold keeps its client open, as a copy of the client would, until it is destroyed, assigned to or moved from; its
// release() does not change that. So mutex{connect(url), "name"}.acquire() is a hold that lasts. If it is the last
// handle of its client, its end closes the client, as client::close() does, on the thread that ends it.
// client::close() releases all holds nevertheless, and loss() is then loss::closed.
//
// Thread safety: const members may be called from any thread at once. release(), transfer(), moves and the destructor
// must not run concurrently with other calls on the same object.
class ROWLOCK_OWNER hold {
 public:
  hold() noexcept;                         // empty: holds nothing
  hold(hold&& other) noexcept;             // other is then empty
  hold& operator=(hold&& other) noexcept;  // releases the previous hold
  ~hold();  // waits at most options::close_timeout, and as long again to close its client

  // True until the hold is released or lost; false if it is empty. A true answer is valid only for remaining().
  explicit operator bool() const noexcept { return valid(); }
  bool valid() const noexcept;

  // The fencing token: greater than that of every earlier hold of this name. It changes only when
  // shared_mutex::try_upgrade() succeeds. Holds that share a lock have different tokens. 0 if empty.
  fencing_token token() const noexcept;

  // The hold's part of the capacity: a semaphore's permits, 1 for a reader, all of it for an exclusive hold. 0 if
  // empty.
  std::int64_t weight() const noexcept;

  // The lock's name; "" if empty. This acquisition's id; nil if empty.
  const std::string& name() const noexcept;
  hold_id id() const noexcept;

  // Time until the hold counts as lost unless it is renewed before; zero if it is not valid. Measured on
  // CLOCK_BOOTTIME, from before the last confirmed renewal was sent.
  std::chrono::nanoseconds remaining() const noexcept;

  // Stops when the hold is lost, not when it is released. Callbacks run on a rowlock thread, under no lock; be quick.
  // If the hold is lost already, the returned token has stopped, and a callback that is registered with it runs at
  // once, on the calling thread; callbacks of earlier tokens run on the rowlock thread all the same. In a forked child
  // the token never stops.
  [[nodiscard]] std::stop_token stop_token() const noexcept;

  rowlock::loss loss() const noexcept;

  // Stops when somebody requests the release of the lock. Callbacks as for stop_token(). On MariaDB and MySQL the
  // request is seen with the next renewal, or earlier if another call of this client waits. Throws error(forked), as
  // request() does.
  [[nodiscard]] std::stop_token release_requested() const;
  // The latest request. Empty: there is none.
  [[nodiscard]] std::optional<rowlock::release_request> request() const;

  // Attaches a text to the hold for all who look (holder_info::data), such as "deploy 4711" or "shard 3":
  // UTF-8, at most 4096 bytes, no NUL. It replaces the previous text; a new hold has an empty one. The call
  // takes a transaction, which calls for other locks may share. Anyone who may read the locks sees the text.
  //
  // The hold keeps the text through a renewal, a downgrade, an upgrade, a partial release, and transfer()
  // with adopt. When the hold ends, for whatever reason, the text is gone, even while the lock rests. A hold
  // that reclaim has returned has an empty text. A lock's history does not record the text.
  //
  // Throws error: hold_lost if the hold is over, which the database checks; invalid_argument; contention if a
  // guarded transaction of this hold stays open longer than options::statement_timeout (on PostgreSQL not for
  // an exclusive hold, whose guard does not block the text), or another one keeps the row; unreachable; privilege,
  // read_only, database and others if the database refuses; closed if the client is closed meanwhile; forked. The text
  // is then unchanged, unless outcome_unknown(). The call may be repeated.
  void set_data(const std::string& text) const;

  // Releases the lock; waits at most options::close_timeout. Whatever it returns, the hold is over: errors of the
  // database are not thrown, and a lack of memory only delays the release. If an answer is lost, and the hold is gone
  // when the database is asked again, the result is `released`, although the hold may have been released by force just
  // before. A second call returns the same result. An empty hold returns `lost`. Throws error(forked) in a forked
  // child.
  release_result release();

  // Lets another process continue the hold: pass the returned text to rowlock::adopt there within ttl (100 milliseconds
  // to 24 hours). After that others can be granted the lock. In this process the hold is over, as after release(). A
  // minimum hold time is not passed on. Pass the text on unchanged and keep it secret: it is all that adopt() needs.
  // Throws error: hold_lost; invalid_argument, also for a recursive_mutex that was entered more than once; contention
  // if a guarded transaction keeps the row; unreachable; closed; forked. If outcome_unknown(), the hold is released;
  // after any other error it is unchanged. After std::bad_alloc valid() says which of these is true.
  [[nodiscard("without the text nobody can adopt the hold")]] std::string transfer(time_span ttl);

  // As above, and replaces the data of the hold (set_data) in the same commit, for programs that find the hold by its
  // data: whoever may read the locks can look there for the text. data: is called once, with the text, before anything
  // is sent. After an error with outcome_unknown() either the hold has moved, with these data, and stands until the ttl
  // has passed, or it is released. Also throws error(invalid_argument) for data that set_data refuses, and what data
  // throws; the hold is then unchanged.
  std::string transfer(time_span ttl, const std::function<std::string(const std::string& text)>& data);

  // The text with which rowlock::reclaim continues this hold after its process has died; store it. On this machine
  // reclaim() refuses the text while the process that has the hold still runs. The text is useless once the hold is
  // over. "" if empty.
  [[nodiscard]] std::string receipt() const;

  // See rowlock::guard_statement. Throws error(hold_lost) if the hold is not valid(). The call sends nothing, except
  // after a downgrade or an upgrade whose outcome is unknown: then it asks PostgreSQL, MariaDB or MySQL in which mode
  // the hold stands, and throws unreachable and others if there is no answer.
  [[nodiscard]] rowlock::guard_statement guard_statement() const;

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit hold(std::shared_ptr<client_layer::hold_state> state) noexcept;

  std::shared_ptr<client_layer::engine> client_;  // keeps it open
  std::shared_ptr<client_layer::hold_state> state_;
  bool is_over_ = false;  // release() or transfer() was called
  release_result result_ = release_result::lost;
};

// For rowlock/guard/*.hpp.
namespace detail {
[[noreturn]] ROWLOCK_EXPORT void throw_guard_lost(const hold& held);
// The SQL with its parameters as hexadecimal literals, which mean the same in each character set and SQL mode.
ROWLOCK_EXPORT std::string with_literals(const std::string& sql, const std::vector<std::string>& parameters);
}  // namespace detail

ROWLOCK_END_NAMESPACE
