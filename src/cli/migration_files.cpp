#include "cli/migration_files.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace rowlock::cli {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

// RESET would undo a setting of the tool's own.
std::string within_schema(const std::string& sql, const std::string& schema) {
  if (schema.empty()) return sql;
  return fmt::format(
      "DO $$ BEGIN\n"
      "  PERFORM set_config('rowlock.search_path', current_setting('search_path'), false);\n"
      "  PERFORM set_config('search_path', '{}', false);\n"
      "END $$;\n\n{}\n"
      "DO $$ BEGIN\n"
      "  PERFORM set_config('search_path', current_setting('rowlock.search_path'), false);\n"
      "END $$;\n",
      schema, sql);
}

// The schema becomes SQL text. The library checks prefixes the same way.
void check_schema(const std::string& schema) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool starts_with_digit = !schema.empty() && schema[0] >= '0' && schema[0] <= '9';
  if (schema.size() > 31 || starts_with_digit || !std::ranges::all_of(schema, fits)) {
    refuse("the schema does not match [a-z_][a-z0-9_]{0,30}; it becomes part of the SQL");
  }
}

std::string name_of(const migration& file, migration_format format, bool up) {
  if (format == migration_format::flyway) {
    return fmt::format("{}{:04}__{}.sql", up ? 'V' : 'U', file.version, file.title);
  }
  return fmt::format("{:04}_{}.{}.sql", file.version, file.title, up ? "up" : "down");
}

std::optional<std::string> read(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

std::vector<migration_file> migration_files(const std::vector<migration>& migrations, migration_format format,
                                            const std::string& schema) {
  check_schema(schema);
  std::vector<migration_file> result;
  for (const bool up : {true, false}) {
    for (const auto& file : migrations) {
      result.push_back({name_of(file, format, up), within_schema(up ? file.up : file.down, schema), up});
    }
  }
  return result;
}

std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::vector<std::string> written;
  for (const auto& file : files) {
    const auto path = std::filesystem::path{folder} / file.name;
    if (const auto there = read(path)) {
      if (*there == file.text) continue;
      refuse(fmt::format("'{}' exists with other content; move it away if it never ran", path.string()));
    }
    std::ofstream output{path, std::ios::binary};
    output << file.text;
    output.close();
    if (!output) refuse(fmt::format("cannot write '{}'", path.string()));
    written.push_back(path.string());
  }
  return written;
}

}  // namespace rowlock::cli
