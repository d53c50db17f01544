#include "cli/exit_code.hpp"
#include "cli/migration_files.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>
#include <rowlock/grants.hpp>
#include <rowlock/migrate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::cli {

namespace {

struct migrate_words {
  std::optional<int> to;
  bool dry_run = false;
  bool destroy_tokens = false;
  std::string dialect;
  std::string format = "plain";
  std::int64_t start_version = 0;  // 0: not given
  bool timestamp = false;
  std::string out;
  std::string role;
  std::string use;
};

migrator open_to_read(const context& global) {
  return migrator{global.database_url(), global.reading_options()};
}

// A dry run needs no right to write.
migrator open_for(const context& global, const migrate_words& words) {
  if (words.dry_run) return open_to_read(global);
  return migrator{global.database_url(), global.client_options()};
}

// Prints what up, down and adopt did, or would do.
int report(const context& global, const migrate_words& words, const std::vector<migration>& done,
           std::string_view verb, std::string_view nothing) {
  if (global.json) {
    std::vector<json> array;
    for (const auto& file : done) {
      array.push_back(json::object({{"version", file.version},
                                    {"title", file.title},
                                    {"checksum", file.checksum},
                                    {"action", verb},
                                    {"dry_run", words.dry_run}}));
    }
    print_json(array);
    return success;
  }
  for (const auto& file : done) {
    fmt::print("{}{} {:04}_{}\n", words.dry_run ? "to be " : "", verb, file.version, file.title);
  }
  if (done.empty()) fmt::print("{}\n", nothing);
  return success;
}

// A newer schema is accepted unless it forbids this version. A person who migrates should know of it.
void note_newer(const context& global, const std::vector<migration_status>& lines) {
  if (lines.empty() || lines.back().version <= required_schema_version()) return;
  global.note(fmt::format("the schema has version {}, and this rowlock knows {}: {}", lines.back().version,
                          required_schema_version(), lines.back().title));
}

int up(const context& global, const migrate_words& words) {
  auto schema = open_for(global, words);
  const auto done = schema.up(words.to, words.dry_run);
  note_newer(global, schema.status());
  const auto nothing = words.to ? fmt::format("there is nothing to apply up to version {}", *words.to)
                                : "the schema is up to date";
  return report(global, words, done, "applied", nothing);
}

int down(const context& global, const migrate_words& words) {
  const auto done = open_for(global, words).down(words.to, words.destroy_tokens, words.dry_run);
  return report(global, words, done, "reverted", "there is nothing to revert");
}

int adopt(const context& global, const migrate_words& words) {
  return report(global, words, open_for(global, words).adopt(words.dry_run), "adopted",
                "the ledger is complete");
}

std::string state_of(const migration_status& line) {
  if (!line.applied) return line.recorded ? "pending, though the ledger has it" : "pending";
  if (!line.recorded) return "applied by another tool";
  return line.checksum_matches ? "applied" : "applied from another file";
}

int status(const context& global, const migrate_words&) {
  const auto lines = open_to_read(global).status();
  if (global.json) {
    std::vector<json> array;
    for (const auto& line : lines) {
      array.push_back(json::object({{"version", line.version},
                                    {"title", line.title},
                                    {"applied", line.applied},
                                    {"recorded", line.recorded},
                                    {"checksum_matches", line.checksum_matches},
                                    {"applied_at", line.applied_at}}));
    }
    print_json(array);
    return success;
  }
  std::vector<std::vector<std::string>> rows{{"VERSION", "TITLE", "STATE", "APPLIED AT"}};
  for (const auto& line : lines) {
    rows.push_back({fmt::format("{:04}", line.version), line.title, state_of(line), line.applied_at});
  }
  fmt::print("{}", table(rows));
  return success;
}

int verify(const context& global, const migrate_words&) {
  const auto differences = open_to_read(global).verify();
  if (global.json) {
    std::vector<json> array;
    for (const auto& line : differences) array.push_back(json::object({{"difference", line}}));
    print_json(array);
  } else if (differences.empty()) {
    fmt::print("the schema is as this rowlock expects it\n");
  }
  for (const auto& line : differences) global.print_to_stderr(line);
  return differences.empty() ? success : wrong_schema;
}

int sql(const context& global, const migrate_words& words) {
  if (!global.schema.empty() && !words.dialect.starts_with("postgres")) {
    throw error(errc::invalid_argument, fmt::format("--schema is for postgres; {} has none", words.dialect));
  }
  const auto settings = global.client_options();
  constexpr std::int64_t highest = 99'999'999'999'999'999;  // the tools store 64 bits
  if (words.start_version > highest) {
    throw error(errc::invalid_argument, fmt::format("--start-version is at most {}", highest));
  }
  std::optional<std::uint64_t> start;
  if (words.start_version > 0) start = static_cast<std::uint64_t>(words.start_version);
  const auto files = migration_files(shipped_migrations(words.dialect, settings.prefix),
                                     {.format = migration_format_of(words.format),
                                      .dialect = words.dialect,
                                      .prefix = settings.prefix,
                                      .schema = global.schema,
                                      .start_version = start,
                                      .timestamps = words.timestamp,
                                      .folder = words.out});
  if (!words.out.empty()) {
    for (const auto& path : write_files(files, words.out)) fmt::print("{}\n", path);
    return success;
  }
  for (const auto& file : files) {
    if (file.up) fmt::print("-- {}\n{}\n", file.name, file.text);
  }
  return success;
}

const std::vector<std::pair<std::string, role_use>> uses{{"run", role_use::run},
                                                         {"observe", role_use::observe},
                                                         {"operate", role_use::operate},
                                                         {"migrate", role_use::migrate},
                                                         {"write", role_use::write}};

int grants(const context& global, const migrate_words& words) {
  const auto use = std::ranges::find(uses, words.use, &std::pair<std::string, role_use>::first)->second;
  const auto statements =
      grant_statements(words.dialect, words.role, use, global.schema, global.client_options().prefix);
  if (global.json) {
    std::vector<json> array;
    for (const auto& one : statements) array.push_back(json::object({{"statement", one}}));
    print_json(array);
    return success;
  }
  for (const auto& one : statements) fmt::print("{};\n", one);
  if (statements.empty()) {
    fmt::print(
        "-- SQLite has no roles. A user who takes locks must be able to write the file and its folder;\n"
        "-- a user who only reads must be able to read the file.\n");
  }
  return success;
}

// --dialect, for the subcommands that connect to no database.
void add_dialect(CLI::App& command, migrate_words& words) {
  add_nonempty(command, "--dialect", words.dialect, "postgresql, mysql, mariadb or sqlite")->required();
}

void add_dry_run(CLI::App& command, migrate_words& words) {
  command.add_flag("--dry-run", words.dry_run, "Print what would be done, and do nothing");
}

void add_sql_options(CLI::App& command, migrate_words& words) {
  add_dialect(command, words);
  add_nonempty(
      command, "--format", words.format,
      "The tool whose file names and markers to use: plain (default), flyway, golang-migrate, goose, "
      "dbmate or liquibase")
      ->check(is_one_of(migration_formats()));
  auto* start = add_nonempty(command, "--start-version", words.start_version,
                             "The version of the first new file; default: after the newest in the folder")
                    ->check(is_positive());
  command.add_flag("--timestamp", words.timestamp, "Use a time as the version of new files: YYYYMMDDhhmmss")
      ->excludes(start);
  add_nonempty(command, "--out", words.out,
               "Write new files into this folder and keep existing ones; default: print the up files");
}

void add_grants_options(CLI::App& command, migrate_words& words) {
  add_dialect(command, words);
  add_nonempty(command, "--role", words.role,
               "The role; on MariaDB and MySQL a user may have a host: app@10.0.0.%")
      ->required();
  add_nonempty(
      command, "--as", words.use,
      "run (uses locks), observe (only reads), operate (as run, and sees what doctor needs), migrate, "
      "or write (only guarded writes)")
      ->required()
      ->check(is_one_of({"run", "observe", "operate", "migrate", "write"}));
}

}  // namespace

void add_migrate(command_line& program) {
  auto& command = add_subcommand(program.root(), "migrate", "Create, upgrade and check rowlock's tables.",
                                 "rowlock migrate up");
  command.require_subcommand(1);
  auto words = std::make_shared<migrate_words>();
  const auto add = [&](const std::string& name, const std::string& summary, const std::string& example,
                       int (*act)(const context&, const migrate_words&)) -> CLI::App& {
    auto& added = add_subcommand(command, name, summary, example);
    program.set_action(added, [words, act](const context& global) { return act(global, *words); });
    return added;
  };

  auto& upwards = add("up", "Apply the migrations that are missing.", "rowlock migrate up --dry-run", up);
  add_nonempty(upwards, "--to", words->to, "Up to this version");
  add_dry_run(upwards, *words);

  auto& downwards = add("down", "Revert the newest migration. Refused while leases are alive.",
                        "rowlock migrate down --to 1", down);
  add_nonempty(downwards, "--to", words->to, "Down to this version; default: one step");
  add_dry_run(downwards, *words);
  downwards.add_flag("--destroy-tokens", words->destroy_tokens,
                     "Allow version 0. All tokens start again, and old tokens may be mistaken for new ones");

  add("status", "List the migrations, and which of them are applied.", "rowlock migrate status --json",
      status);
  add("verify", "Compare the database with the schema that this rowlock needs. Exit code 78: they differ.",
      "rowlock migrate verify", verify);
  add_dry_run(
      add("adopt", "Record migrations that another tool has applied.", "rowlock migrate adopt", adopt),
      *words);

  add_sql_options(add("sql", "Print the migrations for another tool. Connects to no database.",
                      "rowlock migrate sql --dialect postgres --format flyway --out db/migration", sql),
                  *words);
  add_grants_options(
      add("grants", "Print the GRANT statements that a role needs. Connects to no database.",
          "rowlock migrate grants --dialect postgres --schema locks --role app --as run", grants),
      *words);
}

}  // namespace rowlock::cli
