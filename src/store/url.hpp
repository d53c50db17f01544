// What a database URL says.
#pragma once

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

// The message with the secret hidden where it stands as one: between ':' and '@' of a URL, or as the value of
// a key. Elsewhere the same letters mean something else, and a short secret would make the message
// unreadable.
std::string hide_secret(std::string message, std::string_view secret);

}  // namespace rowlock::store
