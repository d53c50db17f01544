// Patterns of names, as list, watch and serve have them.
#pragma once

#include <string_view>

namespace rowlock::cli {

// Whether the whole name matches the pattern, as in a shell: "*" matches any text, even "/" and none; "?" matches one
// character; a backslash removes the meaning of the next character. At worst the time is proportional to the
// product of both lengths.
bool matches(std::string_view name, std::string_view pattern);

}  // namespace rowlock::cli
