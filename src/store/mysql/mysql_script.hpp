// A file of SQL as its statements: SOCI sends one at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// Cut at each semicolon outside of quotes and comments; comments that take a line of their own are left out,
// as are empty statements. No DELIMITER, no stored programs.
std::vector<std::string> split_statements(std::string_view sql);

}  // namespace rowlock::store
