// The global options, and what every subcommand does with them.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// Filled while the command line is parsed. It outlives every action.
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

  std::string subcommand;  // its name, once parsed

  // The words after "--", for `run` and `elect`. CLI11 never sees them.
  std::vector<std::string> command;

  // --url, else ROWLOCK_URL, else the trimmed contents of the file that ROWLOCK_URL_FILE names.
  // Throws error(invalid_argument) when there is none.
  std::string database_url() const;

  // Prefix, schema, log and application (--application, or the program and its subcommand) are set; the rest are the
  // library's defaults.
  rowlock::options client_options() const;

  // The same for a command that only reads; it works on a standby too.
  rowlock::options reading_options() const;

  // connect() with these. Throws as it does; the message of a missing schema names the command to run.
  rowlock::client connect() const;
  rowlock::client connect_to_read() const;

  // Prints a line on stderr that is not an error; -q hides it.
  void note(std::string_view message) const;
  // Prints such a line with -v alone.
  void detail(std::string_view message) const;
  // Prints one line after the program's name. Errors are always printed, whatever the options say. Neither waits
  // for stderr nor fails (stderr_lines.hpp).
  void print_to_stderr(std::string_view message) const;
};

// Flushes standard output. False: something of it could not be written, and errno may say why.
bool is_output_written();

}  // namespace rowlock::cli
