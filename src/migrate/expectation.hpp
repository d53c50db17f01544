// What a migrated schema must have, and how a database differs from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::migrate {

// The lines that migration_session::describe() must return after all shipped migrations: the columns of the
// tables in schema/<dialect>.sql.
std::vector<std::string> expected_schema(std::string_view dialect);

// A table that a file would make and that is there already, but is not rowlock's: it lacks a column that the file gives
// it. With CREATE TABLE IF NOT EXISTS the file would take it over, and the file that reverts it would drop it.
struct foreign_table {
  std::string name;
  std::string missing;  // the column
};

// The first such table of a file. Columns that no newest schema has are not asked for, because a later file removes
// them. The file has the prefix; the lines of `expected` and `found` have rowlock_ instead, as describe() says.
std::optional<foreign_table> find_foreign_table(std::string_view file,
                                                const std::vector<std::string>& expected,
                                                const std::vector<std::string>& found,
                                                std::string_view prefix);

// Whether a table that the file makes is not there.
bool lacks_table(std::string_view file, const std::vector<std::string>& found, std::string_view prefix);

// One sentence for each expected line that the database lacks or that differs there. Additional columns and tables are
// allowed: a newer version adds before it removes, and two versions run side by side during a deployment.
std::vector<std::string> differences(const std::vector<std::string>& expected,
                                     const std::vector<std::string>& found, std::string_view prefix);

}  // namespace rowlock::migrate
