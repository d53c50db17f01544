#include "cli/bench/report.hpp"
#include "cli/bench/scenario.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/exit_code.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace rowlock::cli {

namespace {

struct bench_options {
  std::string scenario;
  int threads = 0;
  std::int64_t capacity = bench::plan{}.capacity;
  int rounds = 5;
  double seconds = 0;
};

int run_bench(const context& global, const bench_options& chosen) {
  bench::plan plan;
  plan.url = global.database_url();
  plan.settings = global.client_options();
  plan.rounds = chosen.rounds;
  plan.capacity = chosen.capacity;
  if (chosen.threads > 0) plan.threads = chosen.threads;
  if (chosen.seconds > 0)
    plan.slice = std::chrono::milliseconds{static_cast<std::int64_t>(chosen.seconds * 1000)};

  // Says what is missing (exit 78 and the like) before the bench makes a table. Handover forks, so nothing
  // may run on.
  global.connect().close();

  std::vector<bench::result> results;
  for (const bench::scenario& scenario : bench::scenarios()) {
    if (chosen.scenario != scenario.name) continue;
    if (global.verbose) fmt::print(stderr, "rowlock: bench: {}: {}\n", scenario.name, scenario.what);
    for (bench::result& one : scenario.run(plan)) results.push_back(std::move(one));
  }
  fmt::print("{}", global.json ? bench::as_json(results) : bench::as_table(results));
  return success;
}

}  // namespace

void add_bench(CLI::App& app, context& global) {
  auto chosen = std::make_shared<bench_options>();
  CLI::App* bench = add_subcommand(app, "bench", "Measure rowlock beside the database's own floor",
                                   "rowlock bench parallel --threads 64 --url postgresql:///shop");
  std::string help = "What to measure:";
  std::vector<std::string> names;
  for (const bench::scenario& scenario : bench::scenarios()) {
    help += fmt::format("\n{}: {}. Floor: {}.", scenario.name, scenario.what, scenario.floor);
    names.emplace_back(scenario.name);
  }
  bench->add_option("scenario", chosen->scenario, help)->required()->check(CLI::IsMember(names));
  bench
      ->add_option("--threads", chosen->threads,
                   "Threads; of handover, processes (default 2), of handover-local, threads (default 4); of "
                   "waiters, how many wait; of all, held, reconcile and lost, how many locks")
      ->check(CLI::Range(1, 10'000'000));
  bench->add_option("--capacity", chosen->capacity, "Of semaphore: its permits")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  bench->add_option("--rounds", chosen->rounds, "How often rowlock and its floor are measured in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench
      ->add_option("--seconds", chosen->seconds,
                   "Length of one measurement; default 2, handovers 3, waiters 60")
      ->check(CLI::Range(0.01, 3600.0));
  bench->callback(
      [chosen, &global] { global.action = [chosen, &global] { return run_bench(global, *chosen); }; });
}

}  // namespace rowlock::cli
