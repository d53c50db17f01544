// How a client, a lock and a single acquire behave. The defaults suit a service on a healthy network. A client's
// timeouts and intervals are above 0 and at most 24 hours. If one of its options is impossible, or two contradict each
// other, connect() throws error(invalid_argument) with the values.
#pragma once

#include <rowlock/time_limit.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

ROWLOCK_BEGIN_NAMESPACE

struct hold_event;  // rowlock/client.hpp

enum class log_level { debug, info, warning, error };

struct options {
  // Prefix of the names of rowlock's tables. It must be the one that the migrations were applied with.
  std::string prefix = "rowlock_";

  // PostgreSQL: the schema of the tables. Empty: the connection's search_path finds them.
  std::string schema;

  // PostgreSQL behind a pooler that gives each transaction another session (PgBouncer with pool_mode =
  // transaction): a URL that reaches the same database without the pooler; one more connection, to this URL, receives
  // wake-ups. Without such a URL waiters poll, at intervals that grow to 70 to 140 ms, observers of an election poll
  // every poll_interval, and holders learn of a forced release or a release request with the next renewal. While the
  // URL cannot be reached, waiters poll every poll_interval.
  std::string listen_url;

  // Shown to operators by `rowlock list`. PostgreSQL's application_name is "rowlock", followed by a space and this text
  // if it is not empty. UTF-8, at most 255 bytes, no control characters. Empty: `rowlock list` shows the program's
  // name.
  std::string application;

  // What the process does, shown to operators with its application, host and user. Everybody who may read the tables
  // sees it: no secrets. Cut to 255 bytes, and control characters are left out. Empty: the program's file name alone.
  std::string command{};

  // How long the holds of a vanished client last. 1 second to 24 hours.
  time_span ttl = std::chrono::seconds{30};

  // How often the client's lease is renewed; at most half of the ttl. Empty: a third of the ttl.
  std::optional<time_span> renew_interval{};

  // A hold counts as lost this long (plus a thousandth of the ttl) before the database would grant the lock to anyone
  // else. This covers clocks that run at different rates, and gives the program time to notice. At most a quarter of
  // the ttl; with a short acquire_options::ttl a quarter of that. It also limits how many holds a client may have,
  // because all holders must learn of a loss within it: 250 per millisecond, at least a thousand, 32,500 by default.
  // Requests that wait or are under way count, too. An acquire beyond that throws error(invalid_argument).
  time_span margin = std::chrono::milliseconds{100};

  // Another client's lease is killed at least this long after its expiry. The skew is needed where the clocks of
  // several servers judge leases, as on a Galera cluster. The longer of this and the value stored in the database
  // (`rowlock epoch skew`, admin::set_skew) applies. Prefer the stored value: every client and the command use it. 0 to
  // 24 hours.
  time_span skew = std::chrono::milliseconds{0};

  // How long one statement may take before its connection is considered dead, and how much a call may exceed its own
  // timeout. At most a third of the ttl, so that a dead connection is noticed in time; a short ttl lowers the default
  // of 5 seconds, also if it was set. These headers call connect_timeout plus twice this "as long as a call may take".
  time_span statement_timeout = std::chrono::seconds{5};

  // How long one attempt to connect may take: name resolution, the login and the first statements together. Name
  // resolution and MySQL's login cannot be interrupted: an attempt that hangs there is left on a thread. A client
  // leaves at most a few such threads; beyond that, a further attempt waits for one of them to end.
  time_span connect_timeout = std::chrono::seconds{5};

  // The longest time that a waiter sleeps before it looks at the database again, in case a wake-up was lost.
  time_span poll_interval = std::chrono::seconds{1};

  // How often expired leases of other clients are cleaned up in the background. Empty: never.
  std::optional<time_span> sweep_interval = std::chrono::minutes{1};

  // How long client::close(), a release and destructors wait for the database. A release may take up to 250
  // milliseconds longer, until a statement that hangs is interrupted.
  time_span close_timeout = std::chrono::seconds{2};

  // For programs that only read (admin::list, show, queue; migrator::status, verify). They may connect to a standby and
  // to a read-only server. Every call that writes, such as an acquire, throws error(read_only).
  bool read_only = false;

  // How many connections the client may open, 2 to 16, and one more for listen_url. One of them keeps the lease and
  // receives wake-ups; the others send statements. SQLite always uses two, because only one connection can write at a
  // time.
  int connections = 3;

  // Receives the log; nothing is logged by default. It is called under no lock and with one line at a time:
  // by connect(), and later on a thread that calls only this and on_event. If it is too slow, lines are dropped and
  // counted. close() waits for a running call. Exceptions are ignored. No line contains a secret.
  std::function<void(log_level, std::string_view)> log;

  // Receives what happens to this client's holds: grants, releases, losses and release requests. It is called as `log`
  // is, on the same thread and from the same queue, in which at most 10,000 lines and events wait. Events that were
  // dropped are counted in statistics::events_left_out, and in the log.
  //
  // Nobody waits for it: the hold may be over when its grant is told. To stop work, use hold::stop_token(), which stops
  // before the loss is told here. `granted` comes before the `released` of the same hold. A loss or a release request
  // that the client notices at the moment of the grant may come before `granted`, or without it. No other order is
  // promised. A hold ends without an event if it is transferred, or if its release is never answered.
  std::function<void(const hold_event&)> on_event{};
};

// unknown: a kind that a later version has added. Such a lock is shown and left alone.
enum class lock_kind : std::uint8_t { unknown, mutex, shared_mutex, semaphore, latch, barrier, election };
ROWLOCK_EXPORT const char* to_string(lock_kind kind) noexcept;

enum class lock_mode : std::uint8_t { exclusive, shared };
ROWLOCK_EXPORT const char* to_string(lock_mode mode) noexcept;

// What a lock is, besides its name, kind and capacity. It is stored: pass the same values wherever the name is used.
struct lock_options {
  // False allows barging: a newcomer may take a free lock ahead of the queue, which is served two milliseconds after a
  // release. Faster where a few processes acquire the lock very often (`rowlock-bench unfair`), but a waiter may wait
  // very long. A value other than the stored one is error(mismatch).
  bool fair = true;

  // Lock delay: how long the lock stays unavailable after its exclusive holder was lost, but not after a forced
  // release, so that the lost holder's last actions can finish. The delay starts when the next acquire or a sweep finds
  // the loss. The longer of the stored and the next acquire's delay applies. 0 to 24 hours; 0 for semaphores.
  time_span delay = std::chrono::milliseconds{0};
};

// How one acquire behaves.
struct acquire_options {
  // The hold ends after this time at the latest and is never renewed; it has a lease of its own.
  // 100 milliseconds to 24 hours. Empty: the hold is renewed in the background until it is released.
  std::optional<time_span> ttl{};

  // Minimum hold time: if the hold is released earlier, the lock stays unavailable until this long after the
  // grant. So a job that several machines start at slightly different times, each only if the lock is free,
  // runs once. release() does not wait for it. If the process dies, the lock may become free when its lease
  // expires. 0 to 24 hours, at most the ttl above.
  time_span min_hold = std::chrono::milliseconds{0};

  // While the call waits, it checks every options::poll_interval whether it is part of a circle of waiters. One waiter
  // of the circle that has set this throws error(deadlock), which names the circle. A hold counts as held by the thread
  // that acquired it. Each check reads all locks that have waiters.
  bool detect_deadlock = false;

  // Stops the wait. A call that takes no time limit and waits, such as acquire(), then throws error(cancelled); the
  // others return an empty hold, also try_acquire_for(forever).
  std::stop_token stop{};
};

ROWLOCK_END_NAMESPACE
