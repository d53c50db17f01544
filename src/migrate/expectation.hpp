// What a migrated schema must have, and how a database differs from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::migrate {

// The lines that migration_session::describe() must return after all shipped migrations: the columns of the
// tables in schema/<dialect>.sql.
std::vector<std::string> expected_schema(std::string_view dialect);

// One sentence for each expected line that the database lacks or that differs there. Additional columns and tables are
// allowed: a newer version adds before it removes, and two versions run side by side during a deployment.
std::vector<std::string> differences(const std::vector<std::string>& expected,
                                     const std::vector<std::string>& found, std::string_view prefix);

}  // namespace rowlock::migrate
