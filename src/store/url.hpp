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

}  // namespace rowlock::store
