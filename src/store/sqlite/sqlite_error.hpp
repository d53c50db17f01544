// Maps all of SQLite's result codes to rowlock::error.
#pragma once

#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <string>
#include <string_view>

namespace rowlock::store {

// code: an extended result code. said: SQLite's message. path: the database file. outcome_unknown: the code
// came from a COMMIT, which may be on disk nevertheless. catalog: rowlock's statements, which show whether a
// missing table is rowlock's own or one that a user's trigger names.
error sqlite_error(int code, std::string_view said, std::string_view path, const sql_catalog& catalog,
                   bool outcome_unknown = false);

}  // namespace rowlock::store
