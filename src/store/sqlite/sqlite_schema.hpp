// Which version of rowlock's schema a file has.
#pragma once

#include "store/migration_session.hpp"
#include "store/sqlite/sqlite_connection.hpp"

#include <string_view>

namespace rowlock::store {

// Version 0 where rowlock's tables are missing.
schema_state read_schema_state(sqlite_connection& connection, std::string_view prefix);

}  // namespace rowlock::store
