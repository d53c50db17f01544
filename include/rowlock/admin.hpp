// What an operator does: look at locks, release them by force, clean up. The rowlock command is a thin layer over it.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/lock_info.hpp>

#include <cstddef>

ROWLOCK_BEGIN_NAMESPACE

// How to request the release of a lock.
struct release_request_options {
  std::string reason{};                         // shown to the holders: UTF-8, at most 4096 bytes, no NUL
  time_span within = std::chrono::seconds{30};  // how long to wait for them; up to 24 hours
  bool then_force = false;                      // force the release if somebody still holds the lock then
  std::stop_token stop{};                       // ends the wait; then nothing is forced
};

enum class release_request_result {
  unheld,    // nobody held it
  released,  // all holders have released it or are gone
  kept,      // at least one holder still has it
  forced,    // it was released by force
};
ROWLOCK_EXPORT const char* to_string(release_request_result result) noexcept;

// The names of these two types in version 0.1.0.
using request_options = release_request_options;
using request_result = release_request_result;

// One of several waiters that wait for each other in a circle.
struct stuck_waiter {
  std::string waits_for;  // a lock that the next waiter of the circle holds, or waits for ahead of this one
  waiter_info waiter;
};

struct sweep_result {
  std::int64_t leases = 0;  // expired leases that were killed
  std::int64_t locks = 0;   // locks that needed cleaning and no longer do, whoever has cleaned them
};

// Which names have a history, and how much of it is kept.
struct recording {
  std::string pattern;              // a name, or the beginning of names and a *: "billing/*"
  std::int64_t keep = 1000;         // the latest lines of each name; 1 to 1,000,000
  std::chrono::hours age{24 * 30};  // lines that are older are deleted; 1 hour to ten years
};

// What happened to a lock.
struct history_line {
  // Numbers the lines of a name. If all lines of the name were deleted, the next one is 1 again.
  std::int64_t id = 0;
  std::chrono::milliseconds ago{0};
  // granted, handed over (granted to a waiter), released, lost, forced, moved (to another process, with its
  // token; or to a higher token, which a quorum_mutex raises), release requested, queued, left the queue; or unknown: an
  // event that a later version has added. A hold that another process reclaims is lost.
  std::string event;
  fencing_token token;       // 0 for one that waits
  rowlock::hold_id hold_id;  // nil for a release request
  // Who did it, if that was not the holder, and the reason of a request, cut to 512 bytes. After a raised token the
  // earlier one.
  std::string detail;
  // The holder or waiter; empty if its lease was gone and no earlier line that was read names it.
  std::string host;
  std::string user;
  std::int64_t pid = 0;
  std::string application;
  std::string command;
};

// Uses its client's connections and makes no lease. A moved-from admin may only be assigned to or destroyed. Thread
// safety: any thread may call any member at once.
//
// Throws error as connect() does; closed; forked; and unreachable if the connection breaks or there is no answer for as
// long as a call may take. If outcome_unknown(), the call may have taken effect, or may still do so. After any other
// error nothing has changed, except what sweep() and collect() had already done.
class ROWLOCK_EXPORT admin {
 public:
  explicit admin(client db);

  // All locks, sorted by name, bytewise. Reads one page after another; locks that come and go meanwhile may be missing.
  [[nodiscard]] std::vector<lock_info> list();
  // The next `limit` locks whose names follow `after`; begin with "". If it returns fewer, there are no more.
  [[nodiscard]] std::vector<lock_info> list(const std::string& after, std::size_t limit);
  [[nodiscard]] std::optional<lock_info> show(const std::string& name);   // empty: no such lock
  [[nodiscard]] std::vector<waiter_info> queue(const std::string& name);  // by ticket

  // The circles of waiters that wait for each other for ever. Each circle is listed once; its last waiter waits for its
  // first. All acquires of one thread count as one party. So if another thread will release a hold that this thread
  // acquired, the call may list a circle that is about to resolve itself. The call reads twice and returns the circles
  // that it found both times.
  [[nodiscard]] std::vector<std::vector<stuck_waiter>> cycles();

  // Releases by force the hold with the id `only`, or all holds; without an id it also ends a rest. The token rises,
  // and the first waiter is granted. The holders learn of it (loss::forced) at once; on MariaDB and MySQL, and behind a
  // pooler without options::listen_url, with the next renewal, or earlier if a call of their client waits. False: the
  // lock was neither held nor resting; a latch or a barrier is never held. Throws error: invalid_argument for an
  // impossible name or a nil id; contention if a transaction, such as a holder's guarded one, keeps the lock's row. That
  // error has outcome_unknown(): the request stays with the client, and the lock is released when the transaction ends,
  // unless the client is closed before.
  bool release(const std::string& name, std::optional<hold_id> only = {});

  // Asks all holders to release the lock, and waits until they have. They learn of the request and its reason by
  // hold::release_requested(), and may ignore it. A reader that upgrades its hold has not released it. Later holders are
  // not asked. A lock that rests has no holder, and the rest stays, also with then_force. Throws as release() if it
  // forces, and error: invalid_argument for impossible options; contention, and then nobody is asked, if a transaction
  // keeps the row for options::statement_timeout; cancelled if stopped before the database has confirmed the request. If
  // it is stopped later, it returns `kept` at once. After an error during the wait the holders are still asked.
  [[nodiscard]] release_request_result request_release(const std::string& name,
                                                       const release_request_options& how = {});

  // Kills expired leases and frees what they held. Always safe; clients do this in the background, too. If a
  // transaction keeps a lock's row, the lock is freed when the transaction ends, unless the client is closed before.
  // Throws error(unreachable) if the database does not answer about one of the locks.
  sweep_result sweep();

  // The latest `limit` lines of a name's history, the latest first. Empty for a latch, a barrier and unrecorded names.
  [[nodiscard]] std::vector<history_line> history(const std::string& name, std::size_t limit);
  [[nodiscard]] std::vector<recording> recordings();  // by pattern
  // Records the history of these names from now on, or changes how much is kept. Clients learn of it with their next
  // renewal. Each acquire and release of such a name takes the slow path: docs/performance.md says what that costs.
  // Throws error(invalid_argument) for an impossible pattern or limit.
  void record(const recording& what);
  // Removes a pattern. The lines remain until the next collect(). False: there was no such pattern.
  bool stop_recording(const std::string& pattern);

  // Deletes locks that are free and have not been used for that long; returns how many. It may leave locks that
  // somebody uses meanwhile. The tokens of the deleted names keep rising. It also deletes history lines beyond what is
  // kept. Throws error(invalid_argument) if idle is not 0 to ten years.
  std::int64_t collect(time_span idle);

  // The stored epoch, in seconds since the beginning of 2026. It rises with raise_epoch(), and by itself after a crash,
  // a fail-over or a restore, so that later tokens are greater than all earlier ones.
  [[nodiscard]] std::int64_t epoch();
  // For use after a restore from a backup: later tokens of every name are greater than `above` and than all
  // tokens that the current epoch allows. Returns the new epoch. Grants under way at this moment may still
  // get tokens of the old epoch. Throws error(invalid_argument) if `above` is not 0 to 2^52 - 1.
  std::int64_t raise_epoch(fencing_token above = {});

  // How much later than its expiry a lease may be killed, as stored for all clients. Each client uses the longer of
  // this and its options::skew, and reads it with each renewal. 0 to 24 hours, otherwise error(invalid_argument).
  [[nodiscard]] std::chrono::milliseconds skew();
  void set_skew(time_span skew);

 private:
  client db_;
};

ROWLOCK_END_NAMESPACE
