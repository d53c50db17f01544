// Maps all errors of MySQL and SOCI to rowlock::error.
#pragma once

#include "store/mysql/mysql_endpoint.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// The error::database_code() of a statement that met a row or a gap that another transaction has locked, and
// that did not wait for it or waited in vain.
inline constexpr std::string_view mysql_row_is_locked = "1205";

// Whether this error::database_code() is that of a statement that reached its time limit. The statement may
// have been committed nevertheless.
bool mysql_ran_too_long(std::string_view code);

// The number that the server or the client library gave to the error; 0 if it has none.
unsigned mysql_error_number(const std::exception& cause);

// The error of a statement that failed. doing: the statement's name. catalog: rowlock's statements, which
// show whether a missing table is rowlock's own or one that a user's trigger names. If the connection broke
// or the statement was killed, the outcome is unknown.
error mysql_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog);

// The error of an attempt to connect that failed.
error mysql_connect_error(const std::exception& cause, const mysql_endpoint& endpoint, std::size_t place = 0);

}  // namespace rowlock::store
