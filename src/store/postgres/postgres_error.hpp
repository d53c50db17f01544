// What PostgreSQL and libpqxx say, in rowlock's words. The one place where that is decided.
#pragma once

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// Of a statement that failed. doing: the query's name. A broken connection leaves its outcome unknown.
error postgres_error(const std::exception& cause, std::string_view doing);

// Of a connection that was not made. libpq gives no SQLSTATE there, only text. said: free of secrets.
error postgres_connect_error(std::string_view said);

}  // namespace rowlock::store
