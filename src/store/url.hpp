// The parts of a database URL.
#pragma once

#include "model/for_stores.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

struct database_url {
  std::string dialect;  // postgres, mysql, sqlite
  std::string target;   // what its store opens: the URL itself for a server, the path of the file for SQLite
};

// Throws error(invalid_argument) for a URL that names no database known to rowlock. Does not check whether
// its store is linked. Messages repeat only the scheme and a path of the URL.
database_url parse_url(std::string_view url);

struct unknown_parameter {
  std::string name;    // empty if it could be part of a secret that was not percent-encoded
  std::string advice;  // `; did you mean ssl_mode?`; empty if no known name is similar

  // ` "ssl_mod"`, for a message; may be empty.
  ROWLOCK_FOR_STORES std::string quoted_name() const;
};

// The first unknown parameter in the part of a URL after the question mark. Empty: all are known.
ROWLOCK_FOR_STORES std::optional<unknown_parameter> find_unknown_parameter(
    std::string_view query, const std::vector<std::string>& known);

// The message with the secret hidden wherever it is used as one: between ':' and '@' of a URL, or as the value of a
// key. Elsewhere the same letters mean something else, and hiding a short secret would make the message unreadable.
ROWLOCK_FOR_STORES std::string hide_secret(std::string message, std::string_view secret);

// The value between apostrophes, as the connect strings of libpq and SOCI take it.
ROWLOCK_FOR_STORES std::string quoted_value(std::string_view value);

// A time limit for a setting that counts in seconds: rounded up, and at least 1.
ROWLOCK_FOR_STORES std::int64_t whole_seconds(std::chrono::milliseconds time) noexcept;

}  // namespace rowlock::store
