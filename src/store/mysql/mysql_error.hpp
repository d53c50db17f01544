// What MySQL and SOCI say, in rowlock's words. The one place where that is decided.
#pragma once

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// The server's or the client library's number of an error; 0 when it has none.
unsigned mysql_error_number(const std::exception& cause);

// Of a statement that failed. doing: the query's name. A broken connection, or a
// statement that was killed, leaves its outcome unknown.
error mysql_error(const std::exception& cause, std::string_view doing);

// Of a connection that was not made.
error mysql_connect_error(const std::exception& cause);

}  // namespace rowlock::store
