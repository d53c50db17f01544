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

// Both files of each migration, the up files first, in order. A schema (PostgreSQL) becomes the search_path
// while the file runs, and the path is restored at its end; this works in psql and in the tools'
// transactions. Throws error(invalid_argument) for a schema that is not [a-z_][a-z0-9_]{0,30}.
std::vector<migration_file> migration_files(const std::vector<migration>& migrations, migration_format format,
                                            const std::string& schema);

// Writes them into the folder, which it creates. Returns the paths. Throws error(invalid_argument) for a file
// that exists with other content, and leaves it unchanged: it is another version of a migration, which may
// have run.
std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder);

}  // namespace rowlock::cli
