// Maps all errors of PostgreSQL and libpqxx to rowlock::error.
#pragma once

#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// The error of a statement that failed. doing: the statement's name. catalog: rowlock's statements, which
// show whether a missing table is rowlock's own or one that a user's trigger names. If the connection broke,
// the outcome is unknown.
error postgres_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog);

// The error of an attempt to connect that failed, for which libpq gives only a text. said: that text without
// secrets, as with_sqlstate_last() returns it. A server may write it in any language, so its SQLSTATE
// decides. The words decide what libpq itself says, and what a pooler says that sends another SQLSTATE.
error postgres_connect_error(std::string_view said);

// Rewrites what libpq says with PQERRORS_VERBOSE, which is the only way to learn the SQLSTATE of a refused
// login: moves the SQLSTATE to the end of its line as " (SQLSTATE 28P01)", and leaves out the place in the
// server's source.
std::string with_sqlstate_last(const std::string& said);

}  // namespace rowlock::store
