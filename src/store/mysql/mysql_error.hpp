// Maps all errors of MySQL and SOCI to rowlock::error.
#pragma once

#include "store/mysql/mysql_endpoint.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// error::database_code() of a statement that met a row or a gap that another transaction has locked, and did not wait or
// waited in vain.
inline constexpr std::string_view mysql_row_is_locked = "1205";

// Whether error::database_code() is that of a statement that reached its limit of time. It may have been a commit.
bool mysql_ran_too_long(std::string_view code);

// The number that the server or the client library gave the error; 0: none.
unsigned mysql_error_number(const std::exception& cause);

// For a statement that failed. doing: its name. catalog: rowlock's statements, which tell its tables from those of a user's
// trigger. If the connection broke or the statement was killed, the outcome is unknown.
error mysql_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog);

// For an attempt to connect that failed.
error mysql_connect_error(const std::exception& cause, const mysql_endpoint& endpoint, std::size_t place = 0);

}  // namespace rowlock::store
