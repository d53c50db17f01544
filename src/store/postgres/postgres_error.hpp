// Maps all errors of PostgreSQL and libpqxx to rowlock::error.
#pragma once

#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// For a statement that failed. doing: its name. catalog: rowlock's statements, which tell its tables from those of a user's
// trigger. If the connection broke, the outcome is unknown.
error postgres_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog);

// For an attempt to connect that failed, of which libpq gives only a text. said: that text without secrets, as
// with_sqlstate_last() returns it. A server may write it in any language, so the SQLSTATE decides; the words decide for
// what libpq itself says, and for a pooler that sends another SQLSTATE.
error postgres_connect_error(std::string_view said);

// What libpq says with PQERRORS_VERBOSE, which is the only way to learn the SQLSTATE of a refused login. The SQLSTATE
// is moved to the end of its line as " (SQLSTATE 28P01)", and the place in the server's source is left out.
std::string with_sqlstate_last(const std::string& said);

}  // namespace rowlock::store
