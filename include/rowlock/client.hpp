// A connection to the lock service: one lease, a few connections, and the threads that serve them.
#pragma once

#include <rowlock/config.hpp>
#include <rowlock/options.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace rowlock::client_layer {
class engine;
}

ROWLOCK_BEGIN_NAMESPACE

// What a client has done since connect(). Counters only rise.
struct statistics {
  std::uint64_t acquired = 0;  // grants handed to callers
  std::uint64_t released = 0;
  std::uint64_t busy = 0;           // attempts that gave up
  std::uint64_t waits = 0;          // acquires that entered the queue
  std::uint64_t lost = 0;           // holds lost before their release
  std::uint64_t renewals = 0;       // confirmed
  std::uint64_t late_renewals = 0;  // confirmed after more than half of the ttl
  std::uint64_t reconnects = 0;
  std::uint64_t statements = 0;  // round trips to the database
};

// A handle; copies share one client. Everything may be called from any thread.
//
// Threads: each client runs one thread a carrying connection (options::connections - 1; on SQLite one), one
// that keeps the lease, one that watches deadlines and one that tells of lost holds; all signals are blocked
// in them. They start with the first acquire. One more, which calls executors, starts with the first use of
// async.hpp. After fork() the child must not use it: every call throws error(forked), destructors do nothing.
// The child may make a client of its own; on SQLite only after exec, for another thread may have been inside
// SQLite, and its locks stay locked in the child for ever.
class ROWLOCK_EXPORT client {
 public:
  // Releases every hold (they say loss::closed), ends the lease and closes the connections. Waits at most
  // options::close_timeout; what could not be told the database ends with the lease. Later calls throw
  // error(closed). The last handle's destructor does the same.
  void close() noexcept;

  statistics stats() const;

  // For rowlock's own primitives.
  explicit client(std::shared_ptr<client_layer::engine> engine) noexcept;
  const std::shared_ptr<client_layer::engine>& engine() const noexcept { return engine_; }

 private:
  std::shared_ptr<client_layer::engine> engine_;
};

// Connects, and checks that the schema is migrated and the database writable.
//
// url: postgresql://… (given to libpq as it is), sqlite:relative.db, sqlite:/absolute.db, or
// mysql://user:password@host:port/database (mariadb:// is the same; host:port,host:port/database names
// several nodes of one cluster: all connections go to one of them, and when that fails to the next) with
// these parameters:
//   socket             a Unix socket instead of host and port.
//   ssl_ca             the file of the authority that has signed the server's certificate. Demands TLS, as
//                      ssl_mode=REQUIRED says too; ssl_mode=PREFERRED does without where there is none.
//   ssl_mode=VERIFY_IDENTITY
//                      The certificate must name the host as well, and a server that offers no TLS is left
//                      before the login. Without ssl_ca the system's authorities count.
//   ssl_cert, ssl_key  a certificate of our own.
// Without ssl_ca or VERIFY_IDENTITY do not count on encryption. What else is wanted of TLS, a tunnel beside
// the program can do.
// Throws error: invalid_argument, unreachable, authentication, privilege, read_only, not_migrated, too_new.
ROWLOCK_EXPORT client connect(const std::string& url, const options& settings = {});

// The same with a URL that is asked for at each (re)connect, for credentials that rotate. url_source is
// called from rowlock's threads, one at a time; what it throws counts as unreachable.
ROWLOCK_EXPORT client connect(std::function<std::string()> url_source, const options& settings = {});

ROWLOCK_END_NAMESPACE
