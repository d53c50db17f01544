#include "cli/context.hpp"

#include "cli/open_clients.hpp"
#include "cli/stderr_lines.hpp"
#include "cli/text.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rowlock::cli {

namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Also without the byte-order mark that some editors put before a text.
std::string trimmed(std::string text) {
  constexpr auto space = " \t\r\n";
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.erase(0, mark.size());
  const auto first = text.find_first_not_of(space);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string read_secret(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    throw error(errc::invalid_argument, fmt::format("ROWLOCK_URL_FILE names '{}', which {}", path, why));
  };
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    refuse("is a folder; name the file that contains the URL");
  std::ifstream file{path};
  if (!file.is_open()) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  const auto url = trimmed({std::istreambuf_iterator<char>{file}, {}});
  if (url.empty()) refuse("contains no URL");
  return url;
}

// By default it prints warnings and errors of background work; -q hides them, and -v prints everything.
std::function<void(log_level, std::string_view)> logger(const context& global) {
  if (global.quiet) return {};
  return [&global](log_level level, std::string_view message) {
    if (global.verbose || level >= log_level::warning) global.print_to_stderr(message);
  };
}

}  // namespace

std::string context::database_url() const {
  if (!url.empty()) return url;
  if (const char* value = environment("ROWLOCK_URL")) return value;
  if (const char* path = environment("ROWLOCK_URL_FILE")) return read_secret(path);
  // It sets these for its command, from which it takes the URL.
  if (environment("ROWLOCK_NAME") && environment("ROWLOCK_TOKEN")) {
    throw error(errc::invalid_argument,
                "no database is named, because rowlock run takes ROWLOCK_URL and ROWLOCK_URL_FILE out of the "
                "environment of its command; name the database there again, as in: rowlock run NAME -- env "
                "ROWLOCK_URL_FILE=FILE COMMAND");
  }
  throw error(errc::invalid_argument,
              "no database is named; give --url, or set ROWLOCK_URL or ROWLOCK_URL_FILE "
              "(postgresql://user@host/database, sqlite:file.db)");
}

options context::client_options() const {
  options result;
  if (!prefix.empty()) result.prefix = prefix;
  result.schema = schema;
  result.listen_url = listen_url;
  if (const char* value = environment("ROWLOCK_LISTEN_URL"); value && listen_url.empty())
    result.listen_url = value;
  result.application = !application.empty() ? application
                       : subcommand.empty() ? program
                                            : program + " " + subcommand;
  result.log = logger(*this);
  return result;
}

options context::reading_options() const {
  auto result = client_options();
  result.read_only = true;
  return result;
}

client context::connect_to_read() const {
  return close_at_the_end(rowlock::connect(database_url(), reading_options()));
}

client context::connect() const {
  return close_at_the_end(rowlock::connect(database_url(), client_options()));
}

void context::note(std::string_view message) const {
  if (!quiet) print_to_stderr(message);
}

void context::detail(std::string_view message) const {
  if (verbose) print_to_stderr(message);
}

void context::print_to_stderr(std::string_view message) const {
  put_stderr_line(fmt::format("{}: {}\n", program, one_line(message)));
}

bool is_output_written() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace rowlock::cli
