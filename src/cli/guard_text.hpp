// The SQL of a guard, as programs in other languages take it.
#pragma once

#include <rowlock/hold.hpp>

#include <string>

namespace rowlock::cli {

// sql: guard.sql or guard.write. The parameters stand in it as literals.
std::string with_values(const std::string& sql, const guard_statement& guard);

// sql with the placeholders of a driver. style: dollar ($1), question (?), percent (%(name)s) or named (:name).
std::string with_placeholders(const std::string& sql, const std::string& style);

}  // namespace rowlock::cli
