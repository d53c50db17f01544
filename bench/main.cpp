#include "bench/floor.hpp"
#include "bench/report.hpp"
#include "bench/scenario.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace rowlock::bench {

namespace {

struct words {
  std::string scenario;
  int threads = 0;
  std::int64_t capacity = plan{}.capacity;
  int rounds = 5;
  double seconds = 0;
};

int run(const cli::context& global, const words& chosen) {
  plan plan;
  plan.url = global.database_url();
  plan.settings = global.client_options();
  plan.settings.close_timeout = std::chrono::seconds{20};  // a pause of the machine voids nothing
  plan.rounds = chosen.rounds;
  plan.capacity = chosen.capacity;
  if (chosen.threads > 0) plan.threads = chosen.threads;
  if (chosen.seconds > 0)
    plan.slice = std::chrono::milliseconds{static_cast<std::int64_t>(chosen.seconds * 1000)};

  // Reports what is missing (exit 78 and the like) before the bench makes a table. Handover forks, so no
  // thread may be left running.
  global.connect().close();

  std::vector<result> results;
  for (const scenario& scenario : scenarios()) {
    if (chosen.scenario != scenario.name) continue;
    if (global.verbose) fmt::print(stderr, "rowlock-bench: {}: {}\n", scenario.name, scenario.what);
    for (result& one : scenario.run(plan)) results.push_back(std::move(one));
  }
  fmt::print("{}", global.json ? as_json(results) : as_table(results));
  const auto lacks_server = [](const result& one) {
    return one.details.contains("client_cpu_us_per_pair") && !one.details.contains("server_cpu_us_per_pair");
  };
  if (!is_sqlite(plan) && std::ranges::any_of(results, lacks_server)) {
    fmt::print(stderr,
               "rowlock-bench: server_cpu_us_per_pair is left out, because the server is not on this "
               "machine, or /proc "
               "does not show its processes\n");
  }
  return cli::success;
}

}  // namespace

}  // namespace rowlock::bench

int main(int count, char** given) {
  using namespace rowlock;
  cli::command_line program{"rowlock-bench",
                            "Measures rowlock, and in turn with it the database's own floor.",
                            "Example:\n  rowlock-bench parallel --threads 64 --url postgresql:///shop"};
  bench::words words;
  std::string help = "What to measure:";
  std::vector<std::string> names;
  for (const bench::scenario& scenario : bench::scenarios()) {
    help += fmt::format("\n{}: {}. Floor: {}.", scenario.name, scenario.what, scenario.floor);
    names.emplace_back(scenario.name);
  }
  auto& root = program.root();
  cli::add_nonempty(root, "scenario", words.scenario, help)->required()->check(cli::is_one_of(names));
  cli::add_nonempty(
      root, "--threads", words.threads,
      "Threads; of clients, how many; of handover, processes (default 2), of handover-local, threads "
      "(default 4); of hot, threads of all processes; of tasks, coroutines; of waiters and "
      "http-waits, how many wait; of permits, how many another client holds; of all, held, names, reconcile, "
      "lost "
      "and http-metrics, how many locks")
      ->check(CLI::Range(1, 10'000'000));
  cli::add_nonempty(root, "--capacity", words.capacity, "Of semaphore: its permits")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  cli::add_nonempty(root, "--rounds", words.rounds, "How often rowlock and its floor are measured in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  cli::add_nonempty(root, "--seconds", words.seconds,
                    "Length of one measurement; default 2, handovers 3, churn 5, waiters 60")
      ->check(CLI::Range(0.01, 3600.0));
  program.set_action(root, [&words](const cli::context& global) { return bench::run(global, words); });
  return program.run(count, given);
}
