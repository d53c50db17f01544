#include "cli/context.hpp"

#include "cli/stderr_lines.hpp"
#include "cli/text.hpp"
#include "model/annotated_mutex.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::cli {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

namespace {

// Removes the white space around the text, and the byte-order mark that some editors put before it.
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

// The file that contains the URL. Null: the URL is given in another way, or not at all.
const char* url_file(const context& global) {
  return global.url.empty() && !environment("ROWLOCK_URL") ? environment("ROWLOCK_URL_FILE") : nullptr;
}

// Prints warnings and errors of background work; -q hides them, and with -v everything is printed.
std::function<void(log_level, std::string_view)> logger(const context& global) {
  if (global.quiet) return {};
  return [&global](log_level level, std::string_view message) {
    if (global.verbose || level >= log_level::warning) global.print_to_stderr(message);
  };
}

// The clients of all contexts. The one object of this type is never destroyed, because a close may outlast main().
struct opened_clients {
  model::annotated_mutex mutex;
  std::condition_variable changed;
  std::vector<client> open ROWLOCK_GUARDED_BY(mutex);
  bool are_closed ROWLOCK_GUARDED_BY(mutex) = false;
};

opened_clients& all_opened() {
  static auto* const all = new opened_clients;
  return *all;
}

void close_all(opened_clients& all) {
  model::annotated_lock lock{all.mutex};
  auto clients = std::exchange(all.open, {});
  lock.unlock();
  for (auto& one : clients) one.close();
  lock.lock();
  all.are_closed = true;
  all.changed.notify_all();
}

// Returns the same client.
client close_at_the_end(client opened) {
  auto& all = all_opened();
  const model::annotated_lock lock{all.mutex};
  all.open.push_back(opened);
  return opened;
}

}  // namespace

std::string context::database_url() const {
  if (!url.empty()) return url;
  if (const char* value = environment("ROWLOCK_URL")) return value;
  if (const char* path = url_file(*this)) return read_secret(path);
  // Only `rowlock run` sets these two together, for the command from whose environment it takes the URL.
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

client context::connect() const {
  return connect(client_options());
}

client context::connect_to_read() const {
  return connect(reading_options());
}

// A file is read again for each connection, because its password may have been replaced. If it cannot be read at that
// moment, the database counts as unreachable, and the client tries again.
client context::connect(const options& settings) const {
  const auto named = database_url();
  const char* const path = url_file(*this);
  if (!path) return close_at_the_end(rowlock::connect(named, settings));
  const auto from_file = [file = std::string{path}] {
    try {
      return read_secret(file);
    } catch (const error& failure) {
      throw std::runtime_error(failure.what());
    }
  };
  return close_at_the_end(rowlock::connect(from_file, settings));
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

void close_clients(std::chrono::milliseconds limit) {
  auto& all = all_opened();
  {
    const model::annotated_lock lock{all.mutex};
    if (all.open.empty()) return;
    all.are_closed = false;
  }
  try {
    std::thread{[&all] { close_all(all); }}.detach();
  } catch (const std::system_error&) {
    close_all(all);
  }
  model::annotated_lock lock{all.mutex};
  all.changed.wait_for(lock, limit, [&]() ROWLOCK_REQUIRES(all.mutex) { return all.are_closed; });
}

bool is_output_written() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace rowlock::cli
