// Splits SQL into its statements: a file, so that the migrator can repeat or change a single one, and a script, so that
// its statements can be sent one by one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// Splits at each semicolon outside of quotes and comments. Leaves out comments up to the end of a line, and
// empty statements. Does not know DELIMITER or stored programs.
std::vector<std::string> split_statements(std::string_view sql);

}  // namespace rowlock::store
