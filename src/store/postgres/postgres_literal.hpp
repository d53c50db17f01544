// SQL with its parameters written into it, for where no statement can be prepared.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rowlock::store {

// A string constant that means the same under each standard_conforming_strings, in UTF-8.
std::string postgres_literal(std::string_view text);

// Puts the arguments in for $1, $2, … where those do not stand inside a string constant. Each must have its
// type written behind it, as in `$1::text`. Throws error(internal) for a parameter without an argument.
std::string with_arguments(std::string_view sql, std::span<const std::string> arguments);

}  // namespace rowlock::store
