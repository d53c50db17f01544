// SQL with its arguments as literals, for connections on which no statement can be prepared.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rowlock::store {

// A string constant in UTF-8 that does not depend on standard_conforming_strings.
std::string postgres_literal(std::string_view text);

// Replaces $1, $2, … by the arguments, except inside string constants. Each parameter must be followed by its
// type, as in `$1::text`. Throws error(internal) for a parameter without an argument.
std::string with_arguments(std::string_view sql, std::span<const std::string> arguments);

}  // namespace rowlock::store
