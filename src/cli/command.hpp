// What the subcommands share: the global options, and how each registers itself. One file a subcommand.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/options.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// The global options, filled while the command line is parsed. It outlives every action.
struct context {
  std::string url;  // of --url; database_url() looks further
  std::string prefix;
  std::string schema;
  std::string listen_url;
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  std::string subcommand;  // its name, once parsed

  // The words after "--", for `run`. They never pass through CLI11.
  std::vector<std::string> command;

  // Set by the subcommand that was parsed; main() calls it when parsing has succeeded, and exits with what it
  // returns. It may throw: rowlock::error becomes a message and an exit code (exit_code.hpp) in main().
  std::function<int()> action;

  // --url, else ROWLOCK_URL, else the trimmed contents of the file that ROWLOCK_URL_FILE names.
  // Throws error(invalid_argument) when there is none.
  std::string database_url() const;

  // Prefix, schema, log and application ("rowlock" and the subcommand) set; the rest are the library's
  // defaults.
  rowlock::options client_options() const;

  // The same for a command that only looks: on a standby too.
  rowlock::options reading_options() const;

  // connect() with these. Throws as it does; a missing schema's message names the command to run.
  rowlock::client connect() const;
  rowlock::client connect_to_read() const;

  // A line on stderr that is no error; -q hides it.
  void note(std::string_view message) const;
};

// A subcommand with the settings that all have: global options may follow it, and its --help ends in an
// example.
CLI::App* add_subcommand(CLI::App& app, const std::string& name, const std::string& summary,
                         const std::string& example);

// Each adds its subcommand to the app. Its options live in a shared_ptr that its action holds.
void add_migrate(CLI::App& app, context& global);
void add_run(CLI::App& app, context& global);
void add_list(CLI::App& app, context& global);
void add_show(CLI::App& app, context& global);
void add_queue(CLI::App& app, context& global);
void add_release(CLI::App& app, context& global);
void add_sweep(CLI::App& app, context& global);
void add_gc(CLI::App& app, context& global);
void add_epoch(CLI::App& app, context& global);
void add_bench(CLI::App& app, context& global);

}  // namespace rowlock::cli
