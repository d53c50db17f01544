#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <CLI/Error.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

namespace {

using namespace rowlock::cli;

void print_error(std::string_view message) {
  fmt::print(stderr, "rowlock: {}\n", one_line(message));
}

void add_global_options(CLI::App& app, context& global) {
  app.add_option(
      "--url", global.url,
      "Database; else ROWLOCK_URL, else the file that ROWLOCK_URL_FILE names (use these for passwords)");
  app.add_option("--prefix", global.prefix, "Starts each table's name (rowlock_)")->envname("ROWLOCK_PREFIX");
  app.add_option("--schema", global.schema, "PostgreSQL: the tables' schema")->envname("ROWLOCK_SCHEMA");
  app.add_option("--listen-url", global.listen_url,
                 "PostgreSQL behind a pooler: past it, for wake-ups; else ROWLOCK_LISTEN_URL");
  app.add_flag("--json", global.json, "Print one JSON array of objects");
  auto* quiet = app.add_flag("-q,--quiet", global.quiet, "Nothing on stderr but errors");
  app.add_flag("-v,--verbose", global.verbose, "Log what happens in the background to stderr")
      ->excludes(quiet);
  app.set_version_flag("--version", "rowlock " ROWLOCK_VERSION);
}

void add_subcommands(CLI::App& app, context& global) {
  add_run(app, global);
  add_list(app, global);
  add_show(app, global);
  add_queue(app, global);
  add_release(app, global);
  add_sweep(app, global);
  add_gc(app, global);
  add_epoch(app, global);
  add_migrate(app, global);
#ifdef ROWLOCK_CLI_HAS_BENCH
  add_bench(app, global);
#endif
  app.require_subcommand(1);
}

// What follows "--" belongs to run's command. CLI11 would take a word such as "[a,b]" there for a list.
std::vector<std::string> split_command(std::vector<std::string>& words, const std::string& subcommand) {
  const auto mark = std::ranges::find(words, "--");
  if (subcommand != "run" || mark == words.end()) return {};
  std::vector<std::string> command{mark + 1, words.end()};
  words.erase(mark, words.end());
  return command;
}

// The first word that is neither an option nor the value of one.
std::string subcommand_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--url" || words[i] == "--prefix" || words[i] == "--schema" ||
        words[i] == "--listen-url") {
      ++i;
    } else if (!words[i].starts_with('-')) {
      return words[i];
    }
  }
  return "";
}

// Empty: parsed, go on. Otherwise the exit code.
std::optional<int> parse(CLI::App& app, context& global, std::vector<std::string> words) {
  global.subcommand = subcommand_of(words);
  global.command = split_command(words, global.subcommand);
  const bool known =
      !app.get_subcommands([&](CLI::App* any) { return any->check_name(global.subcommand); }).empty();
  if (!known && !global.subcommand.empty()) {
    print_error(fmt::format("there is no command '{}'; see: rowlock --help", global.subcommand));
    return usage;
  }
  std::ranges::reverse(words);  // CLI11's way
  try {
    app.parse(words);
    return {};
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ExtrasError& problem) {
    const bool has_command = global.subcommand != "run" || !global.command.empty();
    print_error(has_command ? problem.what()
                            : "the command to run stands behind --, as in: rowlock run NAME -- COMMAND");
    fmt::print(stderr, "See: rowlock {}--help\n", known ? global.subcommand + ' ' : "");
    return usage;
  } catch (const CLI::ParseError& problem) {
    print_error(problem.what());
    fmt::print(stderr, "See: rowlock {}--help\n", known ? global.subcommand + ' ' : "");
    return usage;
  }
}

int act(const context& global) {
  try {
    const int code = global.action();
    if (std::fflush(stdout) == 0) return code;
    print_error("standard output cannot be written");
    return software;
  } catch (const rowlock::error& problem) {
    std::string message = problem.what();
    const auto& code = problem.database_code();
    if (!code.empty() && message.find(code) == std::string::npos) message += " [" + code + "]";
    if (problem.code() == rowlock::errc::not_migrated && message.find("migrate up") == std::string::npos) {
      message += "; run: rowlock migrate up";
    }
    print_error(message);
    return exit_code_of(problem.code());
  } catch (const std::exception& problem) {
    print_error(fmt::format("internal fault: {}", problem.what()));
    return software;
  }
}

}  // namespace

int main(int count, char** words) {
  CLI::App app{"Locks with leases, tokens and a fair queue in your SQL database.", "rowlock"};
  context global;
  add_global_options(app, global);
  add_subcommands(app, global);
  app.footer(
      "Example:\n"
      "  export ROWLOCK_URL=postgresql://app@db/shop\n"
      "  rowlock migrate up\n"
      "  rowlock run billing/nightly --wait 30s -- ./bill-everyone\n"
      "Exit codes: 0 done, 1 no such name, 64 usage, 69 unreachable or overloaded, 70 internal, 75 busy, 76 "
      "hold lost,\n"
      "  77 authentication or privilege, 78 schema not migrated or too new; run passes on the command's "
      "own.");
  if (const auto code = parse(app, global, {words + 1, words + count})) return *code;
  return act(global);
}
