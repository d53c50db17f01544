// A process's access to the locks: one lease, a few database connections, and the threads that use them.
#pragma once

#include <rowlock/options.hpp>

#include <cstdint>
#include <memory>

ROWLOCK_BEGIN_NAMESPACE

// What a client has done since connect(). Counters only rise.
struct statistics {
  std::uint64_t acquired = 0;  // holds that were granted, also those that a call for several locks gave back
  std::uint64_t released = 0;
  std::uint64_t busy = 0;           // attempts that found the lock busy, or gave up
  std::uint64_t waits = 0;          // acquires that entered the queue
  std::uint64_t lost = 0;           // holds lost before their release, also by close()
  std::uint64_t renewals = 0;       // confirmed
  std::uint64_t late_renewals = 0;  // of these, sent more than half of the ttl after the previous one
  std::uint64_t reconnects = 0;
  std::uint64_t statements = 0;  // requests to the database; one may take several round trips
};

// A handle; copies share one client. Every lock that was made with it, every `wanted` and every hold has a copy, and
// the end of the last copy closes the client. A moved-from handle may only be assigned to or destroyed. Thread safety:
// every member may be called from any thread at once.
//
// The first call after connect() that needs the database starts the client's threads: one for each connection that
// sends statements (options::connections - 1; on SQLite one), one that watches deadlines, one that notifies holders of
// a loss, and one that calls options::log if that is set. The first acquire, or other call that needs a lease, starts
// the thread that keeps the lease, and the first use of async.hpp the thread that calls executors. Each attempt to
// connect runs on a thread of its own, also in connect(). All these threads block all signals.
//
// After fork() the child must not use the client, nor what was made with it. Calls that could reach the database throw
// error(forked); close(), unlock(), unlock_shared() and destructors do nothing. What a hold says of itself in the child
// proves nothing. The child may make its own client; on SQLite only after exec, because the fork may have copied
// SQLite's mutexes locked.
class ROWLOCK_OWNER client {
 public:
  // Releases every hold (hold::loss() is then loss::closed), ends the lease and closes the connections. Waits at most
  // options::close_timeout, and longer only for a running call of options::log or url_source. Whatever was not released
  // by then ends with the lease. Calls that wait, and later calls that need the database, throw error(closed).
  // Destroying the last handle does the same. After close() all holds are lost. A concurrent close() returns at once.
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
//   ssl_ca             file of the authority that signed the server's certificate; requires TLS. MariaDB's client
//                      library 3.4 and later then also requires that the certificate names the host
//   ssl_mode           REQUIRED requires TLS and ssl_ca; PREFERRED uses no TLS if the server offers none;
//                      VERIFY_IDENTITY requires TLS before the login and that the certificate names the host,
//                      which is not 127.0.0.1 or ::1. Without ssl_ca it trusts the system's authorities.
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
