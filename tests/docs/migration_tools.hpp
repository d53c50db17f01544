// Other migration tools: what they do with a folder of files, according to their source.
#pragma once

#include "migrate/blank_database.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rowlock::test {

struct migration_tool {
  std::string format;   // the argument of rowlock migrate sql
  std::string program;  // the first word of the recipe's line
  std::string section;  // of docs/migrations.md
};

// Flyway, golang-migrate, goose, dbmate and Liquibase.
const std::vector<migration_tool>& migration_tools();

// The variables that the recipe's line reads.
std::map<std::string, std::string> environment_of(const migration_tool& tool, const blank_database& db);

// Writes a migration of a team's own, which creates the table.
void write_own_migration(const migration_tool& tool, const std::filesystem::path& folder,
                         const std::string& version, const std::string& table);

// The files that the tool would apply, in its order. Throws std::runtime_error for two files of one version.
std::vector<std::filesystem::path> in_order(const migration_tool& tool, const std::filesystem::path& folder);

// The up statements of such a file: each element is what the tool sends to the database at once.
std::vector<std::string> statements_up(const migration_tool& tool, const std::filesystem::path& file);

// Applies the files in one transaction each.
void apply_like(const migration_tool& tool, const std::filesystem::path& folder, const blank_database& db);

}  // namespace rowlock::test
