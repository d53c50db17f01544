#include "cli/migration_files.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace rowlock::cli {

namespace {

[[noreturn]] void refuse_export(const std::string& message) {
  throw error(errc::invalid_argument, message);
}

const std::vector<std::pair<std::string, migration_format>> formats{
    {"plain", migration_format::plain},   {"flyway", migration_format::flyway},
    {"goose", migration_format::goose},   {"golang-migrate", migration_format::golang_migrate},
    {"dbmate", migration_format::dbmate}, {"liquibase", migration_format::liquibase}};

// A migration's files before they have a version in their names: head + version + rest.
struct unnumbered_file {
  std::string head;  // Flyway's V or U; otherwise empty
  std::string rest;  // _rowlock_locks.up.sql
  std::string text;
  bool up = true;
};

struct numbering {
  std::optional<std::uint64_t> start{};  // the first version of the new files; default: the folder decides
  bool timestamps = false;               // YYYYMMDDhhmmss, when rowlock's developers made the migration
  int digits = 4;                        // of the first version in a folder that has none
};

// An existing file. Its name is 0007_locks.up.sql, V7__locks.sql or V1.2__locks.sql (of version 1).
struct numbered_file {
  std::string name;
  std::string version;  // 0007
  std::string text;
  std::uint64_t number = 0;
};

// When the migration was made, as its up file says. This time never changes, so an export after an update of rowlock
// has the same names. The first two files do not say it, and no file changes once it may have been applied.
std::uint64_t time_of(const migration& one) {
  constexpr std::uint64_t of_the_first[] = {20261120123205, 20261122172457};
  constexpr std::string_view mark = "-- Made at ";
  if (one.version <= static_cast<int>(std::size(of_the_first))) return of_the_first[one.version - 1];
  std::uint64_t time = 0;
  if (const auto at = one.up.find(mark); at != std::string::npos) {
    const auto* digits = one.up.data() + at + mark.size();
    std::from_chars(digits, one.up.data() + one.up.size(), time);
  }
  if (time == 0)
    throw error(errc::internal, fmt::format("migration {} does not say when it was made", one.version));
  return time;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The time that YYYYMMDDhhmmss stands for. Empty: the version is not a valid time.
std::optional<std::chrono::sys_seconds> as_time(std::uint64_t version) {
  using namespace std::chrono;
  const auto take = [&](unsigned modulus) {
    const auto part = static_cast<unsigned>(version % modulus);
    version /= modulus;
    return part;
  };
  const unsigned second = take(100);
  const unsigned minute = take(100);
  const unsigned hour = take(100);
  const unsigned in_month = take(100);
  const unsigned in_year = take(100);
  const year_month_day date{year{static_cast<int>(version % 100000)}, month{in_year}, day{in_month}};
  if (version < 1970 || version > 9999 || !date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  return sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
}

std::uint64_t as_version(std::chrono::sys_seconds time) {
  using namespace std::chrono;
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  std::uint64_t version = static_cast<std::uint64_t>(static_cast<int>(date.year()));
  for (const auto part :
       {static_cast<std::int64_t>(static_cast<unsigned>(date.month())),
        static_cast<std::int64_t>(static_cast<unsigned>(date.day())),
        static_cast<std::int64_t>(clock.hours().count()), static_cast<std::int64_t>(clock.minutes().count()),
        static_cast<std::int64_t>(clock.seconds().count())}) {
    version = version * 100 + static_cast<std::uint64_t>(part);
  }
  return version;
}

std::uint64_t version_after(std::uint64_t version) {
  const auto time = as_time(version);
  return time ? as_version(*time + std::chrono::seconds{1}) : version + 1;
}

std::optional<numbered_file> parse_name(const std::string& name, std::string_view heads) {
  if (!heads.empty() && (name.empty() || heads.find(name[0]) == std::string_view::npos)) return {};
  const auto begin = name.begin() + (heads.empty() ? 0 : 1);
  const auto end = std::find_if_not(begin, name.end(), is_digit);
  numbered_file file{.name = name, .version = {begin, end}, .text = {}};
  const auto& digits = file.version;
  const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), file.number);
  if (failure != std::errc{} || digits.empty() || !name.ends_with(".sql")) return {};
  return file;
}

// The files of a folder whose names begin with a version.
class numbered_folder {
 public:
  // heads: one of these letters precedes each version; empty: none does. Subfolders are not read. A folder that does
  // not exist counts as empty.
  numbered_folder(const std::string& path, std::string_view heads) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator{path, missing}) {
      auto file = parse_name(entry.path().filename().string(), heads);
      if (!file || !entry.is_regular_file()) continue;
      std::ifstream input{entry.path(), std::ios::binary};
      file->text.assign(std::istreambuf_iterator<char>{input}, {});
      files_.push_back(std::move(*file));
    }
    std::ranges::sort(files_, {}, &numbered_file::name);
  }

  // The file that has this migration: its own name with any version, or another name with the same text. Throws
  // error(invalid_argument) if there are two.
  const numbered_file* find(const unnumbered_file& wanted) const {
    const numbered_file* found = nullptr;
    for (const auto& file : files_) {
      if (file.name != wanted.head + file.version + wanted.rest && file.text != wanted.text) continue;
      if (found) {
        throw error(
            errc::invalid_argument,
            fmt::format(
                "'{}' and '{}' are the same migration of rowlock's: remove the one that was never applied",
                found->name, file.name));
      }
      found = &file;
    }
    return found;
  }

  // The file with the highest version.
  const numbered_file* newest() const {
    const auto found = std::ranges::max_element(files_, {}, &numbered_file::number);
    return found == files_.end() ? nullptr : &*found;
  }

 private:
  std::vector<numbered_file> files_;
};

// Assigns versions, each higher than all before it and than those of the folder.
class version_sequence {
 public:
  version_sequence(const numbered_folder& folder, const numbering& how)
      : how_{how}, digits_{static_cast<std::size_t>(how.digits)} {
    const auto* newest = folder.newest();
    if (!newest) return;
    last_ = newest->number;
    digits_ = newest->version.size();
    if (!how_.start && as_time(last_)) how_.timestamps = true;
  }

  // The version of this migration of rowlock's.
  std::string next(const migration& one) {
    const auto lowest = how_.timestamps ? time_of(one) : how_.start.value_or(1);
    last_ = last_ == 0 ? lowest : std::max(lowest, version_after(last_));
    return fmt::format("{:0{}}", last_, digits_);
  }

 private:
  numbering how_;
  std::size_t digits_;
  std::uint64_t last_ = 0;  // 0: none so far
};

// goose splits at each semicolon that ends a line.
std::string one_statement(const std::string& sql, migration_format format) {
  if (format != migration_format::goose) return sql;
  return "-- +goose StatementBegin\n" + sql + "-- +goose StatementEnd\n";
}

// The path is restored by hand, because RESET would undo the tool's own setting.
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
    refuse_export("the schema does not match [a-z_][a-z0-9_]{0,30}; it becomes part of the SQL");
  }
}

// A tool's name for the migration, which also distinguishes two sets of tables in one folder: rowlock_locks.
std::string title_of(const migration& file, const export_settings& settings) {
  const auto schema = settings.schema.empty() ? "" : settings.schema + '_';
  return schema + settings.prefix + file.title;
}

// The SQL as Liquibase's rollback, without the comments and the empty lines.
std::string as_rollback(const std::string& sql) {
  std::string result;
  std::istringstream lines{sql};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("--")) result += "--rollback " + line + '\n';
  }
  return result;
}

// Liquibase splits the text at semicolons, except for PostgreSQL: a DO block contains semicolons, and only the JDBC
// drivers of the other databases need one statement at a time.
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
  // The tools' own commands create versions of this form.
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
      refuse_export(fmt::format("'{}' has migration {} and not {}, which comes before it", settings.folder,
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

// Writes the file under another name first, because the tool would apply a file that was cut short, by a full disk for
// example.
void write_whole(const std::filesystem::path& path, const std::string& text) {
  auto part = path;
  part += ".part";  // no tool takes this for a migration
  std::error_code failure;
  {
    std::ofstream output{part, std::ios::binary};
    if (!output.is_open())
      refuse_export(fmt::format("cannot write '{}': {}", path.string(), std::strerror(errno)));
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

std::vector<std::string> migration_formats() {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats) names.push_back(name);
  return names;
}

migration_format migration_format_of(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &std::pair<std::string, migration_format>::first);
  if (found == formats.end()) refuse_export(fmt::format("'{}' is not a format of migrations", name));
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

std::vector<std::string> write_files(const std::vector<migration_file>& files, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::vector<std::string> written;
  for (const auto& file : files) {
    const auto path = std::filesystem::path{folder} / file.name;
    if (const auto there = read(path)) {
      if (*there == file.text) continue;
      refuse_export(
          fmt::format("'{}' exists with other content; remove it if it was never applied", path.string()));
    }
    write_whole(path, file.text);
    written.push_back(path.string());
  }
  return written;
}

}  // namespace rowlock::cli
