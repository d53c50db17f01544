// The subcommand serve: a process beside the database, with HTTP. What it does is in src/serve.
#include "cli/exit_code.hpp"
#include "cli/signals.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"
#include "serve/service.hpp"
#include "serve/tokens.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/error.hpp>
#include <rowlock/migrate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::cli {

namespace {

using std::chrono::milliseconds;

// As written on the command line.
struct serve_words {
  std::string listen = "127.0.0.1:8600";
  std::vector<std::string> hosts;
  std::string token_file;
  std::vector<std::string> new_token;
  std::string drain = "10s";
  std::string idle = "75s";
  std::int64_t connections = 4096;
  std::int64_t rate = 100;
  std::string sweep_every = "30s";
  std::string gc_idle;
  std::string election = "rowlock/serve";
  std::string metrics_every = "15s";
  std::vector<std::string> metrics_names;
  bool has_no_dashboard = false;
};

// Throws error(invalid_argument).
milliseconds at_least(const char* option, const std::string& text, milliseconds least) {
  const auto value = parse_duration(option, text);
  if (value >= least) return value;
  throw error(errc::invalid_argument,
              fmt::format("{} {} is too short; it is at least {}", option, text, format_duration(least)));
}

// As at_least(), but takes 0, too, which means never.
milliseconds zero_or_at_least(const char* option, const std::string& text, milliseconds least) {
  const auto value = parse_duration(option, text);
  if (value.count() != 0 && value < least) {
    throw error(errc::invalid_argument,
                fmt::format("{} {} is too short; it is 0, which means never, or at least {}", option, text,
                            format_duration(least)));
  }
  return value;
}

int print_new_token(const std::vector<std::string>& words) {
  std::vector<serve::role> roles;
  for (std::size_t i = 1; i < words.size(); ++i) roles.push_back(serve::parse_role(words[i]));
  const auto made = serve::make_token(words.front(), roles);
  fmt::print("token: {}\nline:  {}\n", made.token, made.line);
  return success;
}

serve::service_settings settings_of(const serve_words& words) {
  using namespace std::chrono_literals;
  serve::service_settings result{.listen = serve::parse_listen_address(words.listen)};
  if (!words.token_file.empty()) result.access.known_tokens = serve::tokens::read(words.token_file);
  result.access.hosts = words.hosts;
  if (words.rate < 0) {
    throw error(errc::invalid_argument,
                fmt::format("--rate {} is below 0; 0 means any number of requests", words.rate));
  }
  result.access.requests_per_second = static_cast<double>(words.rate);
  result.limits.connections = static_cast<std::size_t>(words.connections);
  result.limits.idle = at_least("--idle", words.idle, 100ms);
  result.drain = parse_duration("--drain", words.drain);
  result.upkeep.sweep_every = zero_or_at_least("--sweep-every", words.sweep_every, 100ms);
  if (!words.gc_idle.empty()) result.upkeep.collect_idle = at_least("--gc-idle", words.gc_idle, 1ms);
  result.upkeep.election = words.election;
  result.metrics_every = zero_or_at_least("--metrics-every", words.metrics_every, 15s);
  result.metrics_names = words.metrics_names;
  result.has_dashboard = !words.has_no_dashboard;
  return result;
}

// The client itself never sweeps in the background; only the upkeep of the service sweeps. A service that never writes
// may serve a standby.
options options_for(const context& global, const serve::service_settings& settings) {
  auto result = settings.writes() ? global.client_options() : global.reading_options();
  result.sweep_interval.reset();
  return result;
}

// Throws only if the URL is wrong, because a wrong URL stays wrong. A database that cannot be reached may come back, so
// the service waits for it.
void check_url(const std::string& url, const options& settings) {
  try {
    migrator{url, settings};
  } catch (const error& problem) {
    if (problem.kind() == errc::invalid_argument) throw;
  }
}

int schema_version(const std::string& url, const options& settings) {
  int version = 0;
  for (const auto& one : migrator{url, settings}.status()) {
    if (one.applied) version = std::max(version, one.version);
  }
  return version;
}

// "As long as a call may take" (options.hpp).
milliseconds longest_call(const options& settings) {
  return std::chrono::duration_cast<milliseconds>(settings.connect_timeout + 2 * settings.statement_timeout);
}

int run_service(const context& global, const serve_words& words) {
  const auto settings = settings_of(words);
  const auto how = options_for(global, settings);
  const auto to_read = global.reading_options();
  const auto url = global.database_url();
  signal_queue signals;  // before any thread, which would get the signals otherwise
  check_url(url, to_read);
  const serve::service_environment environment{
      .connect = [&] { return global.connect(how); },
      .schema_version = {"what its schema is", [url, to_read] { return schema_version(url, to_read); },
                         longest_call(to_read)},
      .diagnose = {"the doctor", [url, to_read] { return diagnose(url, to_read); },
                   6 * longest_call(to_read)},
      .wait_for_end =
          [&] {
            until_signal(signals, [](const std::stop_token& stop) {
              pause_until(std::chrono::steady_clock::time_point::max(), stop);
            });
          },
      .note = [&](std::string_view line) { global.note(line); }};
  serve::serve(settings, environment);
  return success;
}

void add_http_options(CLI::App& command, serve_words& words) {
  add_nonempty(command, "--listen", words.listen,
               "IP address and port at which to listen (default 127.0.0.1:8600)")
      ->type_name("ADDRESS");
  command.add_option("--host", words.hosts, "Also answer requests for this name, such as that of a proxy")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_nonempty(command, "--tokens", words.token_file,
               "The file of the tokens that clients need; without it clients can only read")
      ->type_name("FILE");
  command
      .add_option("--new-token", words.new_token,
                  "Print a new token with these roles (read, lock, operate) and its line for the file")
      ->type_name("NAME ROLE ...")
      ->expected(2, 4);
  add_nonempty(command, "--drain", words.drain,
               "How long open requests have to finish at the end (default 10s)")
      ->type_name("DURATION");
  add_nonempty(command, "--idle", words.idle,
               "Close connections without a whole request after this time, at least 100ms (default 75s)")
      ->type_name("DURATION");
  add_nonempty(command, "--connections", words.connections,
               "At most this many connections, a quarter of them from one address (default 4096)")
      ->type_name("N")
      ->check(is_positive());
  add_nonempty(command, "--rate", words.rate,
               "Requests a second from one address (default 100; 0: any number)")
      ->type_name("N");
}

}  // namespace

void add_serve(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "serve",
      "Run beside the database: a dashboard, health checks, metrics, scheduled sweeps, and locks over HTTP.",
      "rowlock serve\n"
      "  rowlock serve --new-token prometheus read\n"
      "  rowlock serve --listen 0.0.0.0:8600 --tokens /etc/rowlock/tokens --host locks.example.com\n"
      "SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 end it: it finishes open requests, and\n"
      "exits with 0. None makes it read a file again. docs/serve.md describes it.");
  auto words = std::make_shared<serve_words>();
  add_http_options(command, *words);
  add_nonempty(command, "--sweep-every", words->sweep_every,
               "Kill expired leases and free what they held this often (default 30s; 0: never)")
      ->type_name("DURATION");
  add_nonempty(command, "--gc-idle", words->gc_idle,
               "Every ten minutes, delete free locks that nobody has used for this time, and old lines of "
               "histories; longer than 0 (default: off)")
      ->type_name("DURATION");
  add_nonempty(command, "--election", words->election,
               "The election that decides which of several processes sweeps (default rowlock/serve)")
      ->type_name("NAME");
  add_nonempty(command, "--metrics-every", words->metrics_every,
               "Read the locks for /metrics this often (default 15s, which is the least; 0: no metrics)")
      ->type_name("DURATION");
  command
      .add_option("--metrics-names", words->metrics_names,
                  "Also show metrics of each lock whose name matches; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--no-dashboard", words->has_no_dashboard,
                   "Leave out the pages at / and the API beneath them");
  program.set_action(command, [words](const context& global) {
    return words->new_token.empty() ? run_service(global, *words) : print_new_token(words->new_token);
  });
}

}  // namespace rowlock::cli
