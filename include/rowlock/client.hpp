// A process's access to the locks: one lease, a few database connections, and the threads that use them.
#pragma once

#include <rowlock/options.hpp>

#include <cstdint>
#include <memory>

ROWLOCK_BEGIN_NAMESPACE

// What a client has done since connect(). Counters only rise.
struct statistics {
  std::uint64_t acquired = 0;  // grants that callers received
  std::uint64_t released = 0;
  std::uint64_t busy = 0;           // attempts that gave up
  std::uint64_t waits = 0;          // acquires that entered the queue
  std::uint64_t lost = 0;           // holds lost before their release
  std::uint64_t renewals = 0;       // confirmed
  std::uint64_t late_renewals = 0;  // confirmed after more than half of the ttl
  std::uint64_t reconnects = 0;
  std::uint64_t statements = 0;  // round trips to the database
};

// A handle; copies share one client. Thread safety: every member may be called from any thread at once. The first
// acquire starts the client's threads: one for each connection that sends statements (options::connections - 1; on
// SQLite one), one that keeps the lease, one that watches deadlines, and one that notifies holders of a loss. The first
// use of async.hpp starts one more, which calls executors. All of them block all signals.
//
// After fork() the child must not use the client: every call throws error(forked), and destructors do nothing. The
// child may make its own client; on SQLite only after exec, because the fork may have copied SQLite's mutexes locked.
class ROWLOCK_OWNER client {
 public:
  // Releases every hold (hold::loss() is then loss::closed), ends the lease and closes the connections. Waits at most
  // options::close_timeout; whatever was not released by then ends with the lease. Later calls throw error(closed).
  // Destroying the last handle does the same.
  void close() noexcept;

  [[nodiscard]] statistics stats() const;

 private:
  friend struct primitives::access;
  explicit client(std::shared_ptr<client_layer::engine> engine) noexcept;

  std::shared_ptr<client_layer::engine> engine_;
};

// Connects, and checks that the schema is migrated and the database writable.
//
// url: postgresql://… (passed to libpq unchanged), sqlite:relative.db, sqlite:/absolute.db, or
// mysql://user:password@host:port/database. mariadb:// is the same as mysql://. host:port,host:port/database names
// several nodes of one cluster: all connections go to one of them, and to the next one when it fails. MySQL parameters:
//   socket             a Unix socket instead of host and port
//   ssl_ca             file of the authority that signed the server's certificate; requires TLS
//   ssl_mode           REQUIRED requires TLS; PREFERRED uses no TLS if the server offers none;
//                      VERIFY_IDENTITY requires TLS before the login and that the certificate names the host.
//                      Without ssl_ca it trusts the system's authorities.
//   ssl_cert, ssl_key  the client's own certificate
// Do not rely on encryption without ssl_ca or VERIFY_IDENTITY. For other TLS settings use a tunnel.
//
// Throws error: invalid_argument, unreachable, authentication, privilege, read_only, not_migrated, too_new.
ROWLOCK_EXPORT client connect(const std::string& url, const options& settings = {});

// Calls url_source for the URL at each connection attempt, for credentials that rotate. rowlock's threads
// call it, one at a time. An exception of url_source counts as unreachable.
ROWLOCK_EXPORT client connect(std::function<std::string()> url_source, const options& settings = {});

ROWLOCK_END_NAMESPACE
