// Maps all errors of PostgreSQL and libpqxx to rowlock::error.
#pragma once

#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rowlock::store {

// For a statement that failed. doing: its name. If the connection broke, the outcome is unknown.
error postgres_error(const std::exception& cause, std::string_view doing);

// For an attempt to connect that failed. libpq gives only a text, without SQLSTATE. said: that text without secrets.
error postgres_connect_error(std::string_view said);

}  // namespace rowlock::store
