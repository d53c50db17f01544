// The global options, and what every subcommand does with them.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// The value of an environment variable. Null if it is not set, or empty.
const char* environment(const char* name);

// Filled while the command line is parsed. The context outlives every action.
struct context {
  std::string program;  // "rowlock"; begins every message

  std::string url;  // of --url; database_url() looks further
  std::string prefix;
  std::string schema;
  std::string listen_url;
  std::string application;
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  std::string subcommand;  // its name, once the command line is parsed

  // The words after "--", for `run` and `elect`. CLI11 never sees them.
  std::vector<std::string> command;

  // --url, else ROWLOCK_URL, else the trimmed contents of the file that ROWLOCK_URL_FILE names.
  // Throws error(invalid_argument) if there is none.
  std::string database_url() const;

  // Prefix, schema, log and application (--application, or the program and its subcommand) are set; the rest are the
  // library's defaults.
  rowlock::options client_options() const;

  // The same for a command that only reads, which works on a standby too.
  rowlock::options reading_options() const;

  // Connects with these options. Throws as rowlock::connect() does; the message about a missing schema names the
  // command to run. The client stays open after the action (close_clients).
  rowlock::client connect() const;
  rowlock::client connect_to_read() const;
  rowlock::client connect(const rowlock::options& settings) const;

  // Prints a line on stderr that is not an error; -q hides it.
  void note(std::string_view message) const;
  // Prints such a line with -v alone.
  void detail(std::string_view message) const;
  // Prints one line after the program's name. Errors are always printed, whatever the options say. This function
  // neither waits for stderr nor fails (stderr_lines.hpp).
  void print_to_stderr(std::string_view message) const;
};

// Closes all clients that contexts have connected, but waits no longer than the limit. What is left in the database
// then ends with its lease. The clients outlive the action, so that the action can print its result first: a close may
// wait for a withdrawal that another transaction's row lock delays.
void close_clients(std::chrono::milliseconds limit);

// Flushes standard output. Returns false if a part of the output could not be written; errno may say why.
bool is_output_written();

}  // namespace rowlock::cli
