// Migrations as files for other tools: `rowlock migrate sql`.
#pragma once

#include <rowlock/migrate.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

enum class migration_format { plain, flyway };

struct migration_file {
  std::string name;  // 0001_locks.up.sql, V0001__locks.sql
  std::string text;
  bool up = true;
};

// Both files of each, ups first in order. A schema (PostgreSQL) is put into search_path while the file runs,
// and the path put back at its end: works in psql and within the tools' transactions alike. Throws
// error(invalid_argument) for a schema that is not [a-z_][a-z0-9_]{0,30}.
std::vector<migration_file> migration_files(const std::vector<migration>& migrations, migration_format format,
                                            const std::string& schema);

// Writes them into the folder, which is created. A file that is there with another content is left alone, and
// error(invalid_argument) thrown: another version of a migration that may have run. Returns the names
// written.
std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder);

}  // namespace rowlock::cli
