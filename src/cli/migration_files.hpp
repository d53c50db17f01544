// Migrations as files for other tools: `rowlock migrate sql`.
#pragma once

#include <rowlock/migrate.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

enum class migration_format { plain, flyway, golang_migrate, goose, dbmate, liquibase };

// plain, flyway, golang-migrate…
std::vector<std::string> migration_formats();
migration_format migration_format_of(std::string_view name);

struct migration_file {
  std::string name;  // 0001_locks.up.sql, V0007__rowlock_locks.sql
  std::string text;
  bool up = true;  // the way up, or both ways in one file
};

struct export_settings {
  migration_format format = migration_format::plain;
  std::string dialect;
  std::string prefix;
  std::string schema;  // PostgreSQL
  std::optional<std::uint64_t> start_version;
  bool timestamps = false;
  std::string folder;  // into which the files are to be written; may be empty
};

// The files of each migration in order, the up files first. Migrations that the folder already has keep their names;
// the others come after the folder's newest migration. A schema is the search_path while the file runs, and the path
// is restored at its end; this works in psql and in the tools' transactions. Throws error(invalid_argument) for a
// schema that is not [a-z_][a-z0-9_]{0,30}, and for a folder that has a migration twice, or a later one without an
// earlier one.
std::vector<migration_file> migration_files(const std::vector<migration>& migrations,
                                            const export_settings& settings);

// Writes the files into the folder, which it creates. Returns the paths. Throws error(invalid_argument) for a file that
// exists with other content, and leaves it unchanged, because it is another version of a migration that may have been
// applied. On a full disk, throws error(internal); the file is then not there.
std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder);

}  // namespace rowlock::cli
