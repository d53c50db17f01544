// Patterns of names, as a shell has them: "billing/*".
#pragma once

#include <string_view>

namespace rowlock::cli {

// Whether the whole name fits the pattern. "*" is any text, also "/" and none; "?" is one character; a backslash
// takes its meaning from the next one. Takes time in proportion to the product of both lengths at worst.
bool matches(std::string_view name, std::string_view pattern);

}  // namespace rowlock::cli
