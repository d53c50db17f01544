// Turns the caller's URL into libpq's connection string, and removes its secrets from messages.
#pragma once

#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

// One server of a URL. Empty parts: libpq's defaults.
struct postgres_server {
  std::string host;
  std::string address;
  std::string port;

  bool operator==(const postgres_server&) const = default;
};

// The server to which the latest connection was made. The next attempt begins there, so that a silent host
// before it in the URL does not cost each connection a share of its time. Thread-safe.
class latest_postgres_server {
 public:
  void note(const postgres_server& server) {
    const model::annotated_lock lock{mutex_};
    server_ = server;
  }
  void put_first(std::vector<postgres_server>& servers) const {
    const model::annotated_lock lock{mutex_};
    if (const auto at = std::ranges::find(servers, server_); at != servers.end()) {
      std::rotate(servers.begin(), at, at + 1);
    }
  }

 private:
  mutable model::annotated_mutex mutex_;
  postgres_server server_ ROWLOCK_GUARDED_BY(mutex_);
};

class postgres_conninfo {
 public:
  // Besides libpq's parameters, the URL may have the parameter `pooled`, on or off.
  // Throws error(invalid_argument) for a URL that libpq cannot read; the message repeats nothing of it.
  // at_most: a limit for the connect timeout, whatever the URL says.
  postgres_conninfo(const std::string& url, const store_options& options,
                    std::chrono::milliseconds at_most = std::chrono::milliseconds::max());

  // Key and value pairs for libpq: those of the URL, the servers of the environment (PGHOST and the like) or
  // of a service file, and, unless these set their own, time limits that detect a dead server.
  std::string text() const;
  // As text(), for this one of the servers.
  std::string text(const postgres_server& server) const;
  // In the order of the URL, or else of the environment or the service file; at least one.
  std::vector<postgres_server> servers() const;
  // From the URL, the environment or the service file, or else from the options.
  std::chrono::milliseconds connect_timeout() const noexcept { return connect_timeout_; }

  // The server of the latest connection. All copies of this object share this record.
  latest_postgres_server& latest() const noexcept { return *latest_; }

  // Whether the URL says that a pooler changes the session with each transaction. Empty if it says nothing,
  // so that the connection must find out.
  std::optional<bool> pooled() const noexcept { return pooled_; }

  // The message with the secrets of the URL, the environment or the service file hidden inside a URL or after a key.
  std::string scrub(std::string message) const;

 private:
  std::map<std::string, std::string> values_;
  std::chrono::milliseconds connect_timeout_;
  std::optional<bool> pooled_;
  std::vector<std::string> secrets_;
  std::shared_ptr<latest_postgres_server> latest_ = std::make_shared<latest_postgres_server>();
};

}  // namespace rowlock::store
