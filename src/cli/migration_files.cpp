#include "cli/migration_files.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace rowlock::cli {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

const std::vector<std::pair<std::string, migration_format>> formats{
    {"plain", migration_format::plain},   {"flyway", migration_format::flyway},
    {"goose", migration_format::goose},   {"golang-migrate", migration_format::golang_migrate},
    {"dbmate", migration_format::dbmate}, {"liquibase", migration_format::liquibase}};

// goose splits at each semicolon that ends a line.
std::string one_statement(const std::string& sql, migration_format format) {
  if (format != migration_format::goose) return sql;
  return "-- +goose StatementBegin\n" + sql + "-- +goose StatementEnd\n";
}

// RESET would undo the tool's own setting.
std::string within_schema(const std::string& sql, const export_settings& settings) {
  if (settings.schema.empty()) return sql;
  const auto enter = fmt::format(
      "DO $$ BEGIN\n"
      "  PERFORM set_config('rowlock.search_path', current_setting('search_path'), false);\n"
      "  PERFORM set_config('search_path', '{}', false);\n"
      "END $$;\n",
      settings.schema);
  const std::string leave =
      "DO $$ BEGIN\n"
      "  PERFORM set_config('search_path', current_setting('rowlock.search_path'), false);\n"
      "END $$;\n";
  return one_statement(enter, settings.format) + '\n' + sql + '\n' + one_statement(leave, settings.format);
}

// The schema is written into the SQL text. The library checks prefixes the same way.
void check_schema(const std::string& schema) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool starts_with_digit = !schema.empty() && schema[0] >= '0' && schema[0] <= '9';
  if (schema.size() > 31 || starts_with_digit || !std::ranges::all_of(schema, fits)) {
    refuse("the schema does not match [a-z_][a-z0-9_]{0,30}; it becomes part of the SQL");
  }
}

// A tool's name for the migration, which also distinguishes two sets of tables in one folder: rowlock_locks.
std::string title_of(const migration& file, const export_settings& settings) {
  const auto schema = settings.schema.empty() ? "" : settings.schema + '_';
  return schema + settings.prefix + file.title;
}

// Without the comments and the empty lines.
std::string as_rollback(const std::string& sql) {
  std::string result;
  std::istringstream lines{sql};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("--")) result += "--rollback " + line + '\n';
  }
  return result;
}

// Only a DO block contains semicolons, and the JDBC drivers of the other databases take one statement at a time.
std::string for_liquibase(const migration& file, const export_settings& settings) {
  const auto schema = settings.schema.empty() ? "" : settings.schema + '_';
  const bool split = !settings.dialect.starts_with("postgres");
  return fmt::format(
      "--liquibase formatted sql\n\n"
      "--changeset rowlock:{}{}{:04}_{} stripComments:false splitStatements:{} rollbackSplitStatements:{}\n"
      "{}\n{}",
      schema, settings.prefix, file.version, file.title, split, split, within_schema(file.up, settings),
      as_rollback(within_schema(file.down, settings)));
}

std::vector<unnumbered_file> files_of(const migration& file, const std::string& title,
                                      const export_settings& settings) {
  const auto up = within_schema(file.up, settings);
  const auto down = within_schema(file.down, settings);
  switch (settings.format) {
    case migration_format::plain:
    case migration_format::golang_migrate:
      return {{"", '_' + title + ".up.sql", up, true}, {"", '_' + title + ".down.sql", down, false}};
    case migration_format::flyway:
      return {{"V", "__" + title + ".sql", up, true}, {"U", "__" + title + ".sql", down, false}};
    case migration_format::goose:
      return {{"", '_' + title + ".sql", "-- +goose Up\n" + up + "\n-- +goose Down\n" + down, true}};
    case migration_format::dbmate:
      return {{"", '_' + title + ".sql", "-- migrate:up\n" + up + "\n-- migrate:down\n" + down, true}};
    case migration_format::liquibase:
      return {{"", '_' + title + ".sql", for_liquibase(file, settings), true}};
  }
  throw error(errc::internal, "unknown format of migrations");
}

numbering numbering_of(const export_settings& settings) {
  numbering how{.start = settings.start_version, .timestamps = settings.timestamps};
  // The same form that the tools' own commands create.
  if (settings.format == migration_format::golang_migrate) how.digits = 6;
  if (settings.format == migration_format::goose) how.digits = 5;
  return how;
}

// rowlock's own numbers and titles, which do not depend on the folder.
std::vector<migration_file> with_own_numbers(const std::vector<migration>& migrations,
                                             const export_settings& settings) {
  std::vector<migration_file> result;
  for (const auto& one : migrations) {
    for (const auto& file : files_of(one, one.title, settings)) {
      result.push_back({fmt::format("{:04}{}", one.version, file.rest), file.text, file.up});
    }
  }
  return result;
}

std::vector<migration_file> numbered_for_tool(const std::vector<migration>& migrations,
                                              const export_settings& settings) {
  const numbered_folder folder{settings.folder, settings.format == migration_format::flyway ? "VUB" : ""};
  version_sequence versions{folder, numbering_of(settings)};
  std::string missing;
  std::vector<migration_file> result;
  for (const auto& one : migrations) {
    const auto files = files_of(one, title_of(one, settings), settings);
    std::string version;
    std::vector<const numbered_file*> there;
    for (const auto& file : files) {
      there.push_back(folder.find(file));
      if (there.back() && version.empty()) version = there.back()->version;
    }
    if (version.empty()) {
      missing = one.title;
      version = versions.next(one);
    } else if (!missing.empty()) {
      refuse(fmt::format("'{}' has migration {} and not {}, which comes before it", settings.folder,
                         one.title, missing));
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      result.push_back(
          {there[i] ? there[i]->name : files[i].head + version + files[i].rest, files[i].text, files[i].up});
    }
  }
  return result;
}

std::optional<std::string> read(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

std::vector<std::string> migration_formats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats) names.push_back(name);
  return names;
}

migration_format migration_format_of(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &std::pair<std::string, migration_format>::first);
  if (found == formats.end()) refuse(fmt::format("'{}' is not a format of migrations", name));
  return found->second;
}

std::vector<migration_file> migration_files(const std::vector<migration>& migrations,
                                            const export_settings& settings) {
  check_schema(settings.schema);
  const bool own_numbers =
      settings.format == migration_format::plain && !settings.start_version && !settings.timestamps;
  auto files = own_numbers ? with_own_numbers(migrations, settings) : numbered_for_tool(migrations, settings);
  std::stable_partition(files.begin(), files.end(), [](const migration_file& file) { return file.up; });
  return files;
}

namespace {

// The tool would apply a file that was cut short, by a full disk for example.
void write_whole(const std::filesystem::path& path, const std::string& text) {
  auto part = path;
  part += ".part";  // no tool takes this for a migration
  std::error_code failure;
  {
    std::ofstream output{part, std::ios::binary};
    if (!output.is_open()) refuse(fmt::format("cannot write '{}': {}", path.string(), std::strerror(errno)));
    output << text;
    output.close();
    if (!output) failure = {errno != 0 ? errno : EIO, std::generic_category()};
  }
  if (!failure) std::filesystem::rename(part, path, failure);
  if (!failure) return;
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  throw error(errc::internal, fmt::format("cannot write '{}': {}", path.string(), failure.message()));
}

}  // namespace

std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::vector<std::string> written;
  for (const auto& file : files) {
    const auto path = std::filesystem::path{folder} / file.name;
    if (const auto there = read(path)) {
      if (*there == file.text) continue;
      refuse(fmt::format("'{}' exists with other content; remove it if it was never applied", path.string()));
    }
    write_whole(path, file.text);
    written.push_back(path.string());
  }
  return written;
}

}  // namespace rowlock::cli
