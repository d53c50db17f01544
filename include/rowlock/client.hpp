// A process's access to the locks: one lease, a few database connections, and the threads that use them; and what it
// tells of itself: statistics and events.
#pragma once

#include <rowlock/hold.hpp>
#include <rowlock/ids.hpp>
#include <rowlock/options.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

// How many lengths of time there were, by their size.
struct duration_histogram {
  // A length belongs to the first bucket whose bound it does not exceed. The last bucket has no bound.
  static constexpr std::array<std::chrono::milliseconds, 15> bounds{
      {std::chrono::milliseconds{1}, std::chrono::milliseconds{3}, std::chrono::milliseconds{10},
       std::chrono::milliseconds{30}, std::chrono::milliseconds{100}, std::chrono::milliseconds{300},
       std::chrono::seconds{1}, std::chrono::seconds{3}, std::chrono::seconds{10}, std::chrono::seconds{30},
       std::chrono::minutes{2}, std::chrono::minutes{5}, std::chrono::minutes{20}, std::chrono::hours{1},
       std::chrono::hours{4}}};

  std::array<std::uint64_t, bounds.size() + 1> buckets{};
  std::chrono::microseconds sum{0};  // of all lengths

  std::uint64_t count() const noexcept {
    return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
  }
};

// What a client has done since connect(). Counters only rise.
struct statistics {
  std::uint64_t acquired = 0;  // holds that were granted, also those that a call for several locks gave back
  std::uint64_t released = 0;
  std::uint64_t busy = 0;   // attempts that found the lock busy, or gave up
  std::uint64_t waits = 0;  // acquires that entered the queue
  // Holds lost before their release, also by close(). Those of which only a release learned count here alone; the
  // others count also by hold::loss():
  std::uint64_t lost = 0;
  std::uint64_t lost_expired = 0;
  std::uint64_t lost_forced = 0;
  std::uint64_t lost_gone = 0;
  std::uint64_t lost_closed = 0;
  std::uint64_t release_requests = 0;  // holds whose release was requested; each counts once
  // Releases that granted the lock to a waiter in the same commit. One whose answer was lost is not counted.
  std::uint64_t hand_overs = 0;
  std::uint64_t renewals = 0;       // confirmed
  std::uint64_t late_renewals = 0;  // of these, sent more than half of the ttl after the previous one
  std::uint64_t reconnects = 0;
  std::uint64_t statements = 0;       // requests to the database; one may take several round trips
  std::uint64_t events_left_out = 0;  // options::on_event was too slow for these, or there was no memory

  duration_histogram waited;  // for the holds that were granted: from the call to the grant
  // How long holds were held: from the grant to the answer to the release, or until the holder was notified of the
  // loss. A hold that close() ends counts as lost. Not counted here are transferred holds, and those of whose loss only
  // a release learned.
  duration_histogram held;
};

// What has happened to a hold of this client (options::on_event).
struct hold_event {
  enum class kind : std::uint8_t {
    granted,
    released,           // the database has answered that it has released the hold
    lost,               // also if a release finds that the database no longer has the hold; then loss is none
    release_requested,  // see hold::request(); only the first request for a hold
  };

  kind what = kind::granted;
  std::string name;     // of the lock
  hold_id id;           // of the hold
  fencing_token token;  // of the hold at that time
  lock_mode mode = lock_mode::exclusive;
  std::chrono::nanoseconds waited{0};        // granted: from the call to the grant
  std::chrono::nanoseconds held{0};          // released, lost: as statistics::held
  rowlock::loss loss = rowlock::loss::none;  // lost: why
  std::optional<release_request> request{};  // release_requested: as the client learned of it
};
ROWLOCK_EXPORT const char* to_string(hold_event::kind what) noexcept;

// A handle; copies share one client. Every lock that was made with it, every `wanted` and every hold has a copy, and
// the end of the last copy closes the client. A moved-from handle may only be assigned to or destroyed. Thread safety:
// every member may be called from any thread at once.
//
// The first call after connect() that needs the database starts the client's threads: one for each connection that
// sends statements (options::connections - 1; on SQLite one), one that watches deadlines, one that notifies holders of
// a loss, and one that calls options::log and on_event if one of them is set. The first acquire, or other call that
// needs a lease, starts the thread that keeps the lease, and the first use of async.hpp the thread that calls
// executors. Each attempt to connect runs on a thread of its own, also in connect(). All these threads block all
// signals.
//
// After fork() the child must not use the client, nor what was made with it. Calls that could reach the database throw
// error(forked); close(), unlock(), unlock_shared() and destructors do nothing. What a hold says of itself in the child
// proves nothing. The child may make its own client; on SQLite only after exec, because the fork may have copied
// SQLite's mutexes locked.
class ROWLOCK_OWNER client {
 public:
  // Releases every hold (hold::loss() is then loss::closed), ends the lease and closes the connections. Waits at most
  // options::close_timeout, and longer only for a running call of options::log, on_event or url_source. Whatever was
  // not released by then ends with the lease; a hold with acquire_options::ttl ends with its own. Calls that wait, and
  // later calls that need the database, throw error(closed). After close() all holds are lost, so calls that need a
  // hold, except hold::transfer(), throw error(hold_lost). Destroying the last handle does the same. A concurrent
  // close() returns at once.
  void close() noexcept;

  [[nodiscard]] statistics stats() const;

 private:
  friend struct primitives::access;
  ROWLOCK_HIDDEN explicit client(std::shared_ptr<client_layer::engine> engine) noexcept;

  std::shared_ptr<client_layer::engine> engine_;
};

// Connects, and checks that the schema is migrated and the database writable.
//
// url: postgresql://… (read by libpq; for ?pooled see docs/operations.md), sqlite:relative.db, sqlite:/absolute.db, or
// mysql://user:password@host:port/database. mariadb:// is the same as mysql://. host:port,host:port/database names
// several nodes of one cluster: all connections go to one of them, and to the next one when it fails. MySQL parameters:
//   socket             a Unix socket instead of host and port
//   ssl_ca             file of the authority that signed the server's certificate; requires TLS, unless ssl_mode is
//                      PREFERRED. MariaDB's client library 3.4 and later then also requires that the certificate
//                      names the host
//   ssl_mode           REQUIRED requires TLS and ssl_ca; PREFERRED uses no TLS if the server offers none; DISABLED is
//                      the same as no ssl_mode, and is refused with ssl_ca; VERIFY_IDENTITY requires TLS before the
//                      login and that the certificate names the host. It needs MariaDB's client library 3.3 or later
//                      and a host other than localhost, 127.0.0.1 and ::1, and takes no socket. Without ssl_ca it
//                      trusts the system's authorities.
//   ssl_cert, ssl_key  the client's own certificate; only with ssl_ca
// Do not rely on encryption without ssl_ca or VERIFY_IDENTITY. For other TLS settings use a tunnel.
//
// Throws error: invalid_argument, unreachable, authentication, privilege, read_only, not_migrated, too_new; contention
// or database if the server refuses for another reason.
ROWLOCK_EXPORT client connect(const std::string& url, const options& settings = {});

// Calls url_source for the URL, for credentials that rotate: once in connect(), for the first two connections, and then
// for each further attempt to connect, on rowlock's threads, one call at a time. An exception of url_source counts as
// unreachable, unless it is a rowlock::error.
ROWLOCK_EXPORT client connect(std::function<std::string()> url_source, const options& settings = {});

ROWLOCK_END_NAMESPACE
