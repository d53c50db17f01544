// From the caller's URL to what libpq is given, and back to messages without secrets.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

// Of those that a URL names. Empty parts: libpq's defaults.
struct postgres_server {
  std::string host;
  std::string address;
  std::string port;
};

class postgres_conninfo {
 public:
  // Beside libpq's own, the URL may have the parameter `pooled`, on or off.
  // Throws error(invalid_argument) for a URL that libpq cannot read; the message repeats none of it.
  // at_most: however long the URL would have an attempt to connect take.
  postgres_conninfo(const std::string& url, const store_options& options,
                    std::chrono::milliseconds at_most = std::chrono::milliseconds::max());

  // Key and value pairs for libpq: the URL's, and where it is silent, time limits that notice a dead server.
  std::string text() const;
  // The same for one of the servers.
  std::string text(const postgres_server& server) const;
  // In the URL's order; at least one.
  std::vector<postgres_server> servers() const;
  // The URL's, or that of the options.
  std::chrono::milliseconds connect_timeout() const noexcept { return connect_timeout_; }

  // Whether the sessions of a connection change with each transaction; empty: it is found out.
  std::optional<bool> pooled() const noexcept { return pooled_; }

  // The message with the URL's secrets replaced where they stand in a URL or behind a key.
  std::string scrub(std::string message) const;

 private:
  std::map<std::string, std::string> values_;
  std::chrono::milliseconds connect_timeout_;
  std::optional<bool> pooled_;
  std::vector<std::string> secrets_;
};

}  // namespace rowlock::store
