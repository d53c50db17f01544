// One name that many want at once: threads of one process, and as many in several processes.
#include "bench/call_rates.hpp"
#include "bench/contest.hpp"
#include "bench/hot_row.hpp"
#include "bench/measure.hpp"
#include "bench/worker_group.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

constexpr const char* hot_name = "bench/hot";
constexpr int hot_processes = 4;

void hot_pair(rowlock::mutex& hot) {
  const auto result = hot.acquire().release();
  // `pending`: the release is retried in the background, because rivals had the row for so long.
  if (result != rowlock::release_result::pending) require_released(result);
}

// What the processes did together.
struct hot_tally {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> pairs = 0;
  std::atomic<std::uint64_t> late_pairs = 0;
  std::atomic<std::uint64_t> statements = 0;
  std::atomic<std::int64_t> cpu_ns = 0;
  std::atomic<std::int64_t> switches = 0;
};

// One of the processes.
void work_on_hot_name(const plan& plan, int threads, hot_tally& all, worker_channel& channel) {
  const rowlock::client client = rowlock::connect(plan.url, plan.settings);
  rowlock::mutex hot{client, hot_name};
  hot_pair(hot);
  channel.ready_and_wait();
  const auto statements = client.stats().statements;
  const auto before = own_usage();
  for_each_parallel(threads, threads, [&](int) {
    while (!all.stop) {
      hot_pair(hot);
      (all.stop ? all.late_pairs : all.pairs).fetch_add(1, std::memory_order_relaxed);
    }
  });
  const auto used = own_usage() - before;
  all.statements += client.stats().statements - statements;
  all.cpu_ns += used.cpu.count();
  all.switches += used.voluntary_switches;
}

// The sum over several runs of the processes.
struct hot_sums {
  std::vector<double> rates;
  call_costs costs;
  double pairs = 0;
  double statements = 0;
};

void run_hot_processes(const plan& plan, int threads_of_each, std::chrono::milliseconds slice,
                       hot_sums& sums) {
  shared_value<hot_tally> all;
  worker_group workers{hot_processes, [&](int, worker_channel& channel) {
                         work_on_hot_name(plan, threads_of_each, *all, channel);
                       }};
  // Only now, because SQLite's connections must not be open while the process forks.
  const auto database = open_floor(plan);
  workers.start();
  sums.costs.begin(*database);
  const auto begun = monotonic_ns();
  workers.wait_while_running(slice);
  const auto within = static_cast<double>(all->pairs.load());
  const auto took = static_cast<double>(monotonic_ns() - begun);
  all->stop = true;
  workers.finish();
  const auto pairs = all->pairs + all->late_pairs;
  sums.costs.end(*database, pairs,
                 {.cpu = std::chrono::nanoseconds{all->cpu_ns.load()}, .voluntary_switches = all->switches});
  sums.rates.push_back(within * 1e9 / took);
  sums.pairs += static_cast<double>(pairs);
  sums.statements += static_cast<double>(all->statements);
}

result in_processes(const plan& plan, int threads, std::chrono::milliseconds slice) {
  hot_sums own;
  std::vector<double> floor;
  result one;
  in_turn(
      plan.rounds, [&] { run_hot_processes(plan, std::max(1, threads / hot_processes), slice, own); },
      [&] {
        const auto database = open_floor(plan);
        one.durability = database->durability();
        hot_row row{*database, threads};
        row.measure(slice);
        floor.push_back(row.rates().per_second());
      });
  one.unit = "pairs/s by processes";
  one.rowlock = median(own.rates);
  one.floor = median(floor);
  one.details["processes"] = hot_processes;
  one.details["client_statements_per_pair"] = own.statements / own.pairs;
  own.costs.describe(one.details);
  return one;
}

result in_one_process(const plan& plan, int threads, std::chrono::milliseconds slice) {
  const auto database = open_floor(plan);
  const auto client = rowlock::connect(plan.url, plan.settings);
  rowlock::mutex hot{client, hot_name};
  hot_pair(hot);
  pair_rates own{*database, {client}};
  hot_row row{*database, threads};
  in_turn(
      plan.rounds, [&] { own.measure(threads, slice, [&](int) { hot_pair(hot); }); },
      [&] { row.measure(slice); });
  return compared(plan, "hot", threads, *database, own, row.rates());
}

}  // namespace

std::vector<result> hot(const plan& plan) {
  const int threads = plan.threads.value_or(16);
  const auto slice = plan.slice.value_or(2s);
  // The processes come first, because a process that forks must have no threads.
  auto many = in_processes(plan, threads, slice);
  std::vector<result> results{in_one_process(plan, threads, slice), std::move(many)};
  for (auto& one : results) {
    one.scenario = "hot";
    one.threads = threads;
    one.details["rounds"] = plan.rounds;
  }
  return results;
}

}  // namespace rowlock::bench
