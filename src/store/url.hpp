// What a database URL says.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::store {

struct database_url {
  std::string dialect;  // postgres, mysql, sqlite
  std::string target;   // what its store opens: the URL itself for a server, the path of the file for SQLite
};

// Throws error(invalid_argument) for a URL that names no database which rowlock knows. Does not ask whether
// its store is built in. Messages repeat nothing of the URL but its scheme and a path.
database_url parse_url(std::string_view url);

struct unknown_parameter {
  std::string name;        // empty where it could be a part of a secret that was not percent-encoded
  std::string known_near;  // what may have been meant; empty: nothing is like it

  // ` "ssl_mod"` and `; did you mean ssl_mode?`, for a message: each empty where there is nothing to say.
  std::string quoted_name() const;
  std::string advice() const;
};

// The first parameter that is not known, of what follows the question mark of a URL. Empty: all are known.
std::optional<unknown_parameter> find_unknown_parameter(std::string_view query,
                                                        std::span<const std::string_view> known);

// The message with the secret hidden where it stands as one: between ':' and '@' of a URL, or as the value of
// a key. Elsewhere the same letters mean something else, and a short secret would make the message
// unreadable.
std::string hide_secret(std::string message, std::string_view secret);

}  // namespace rowlock::store
