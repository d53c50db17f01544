#include "bench/contest.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::bench {

namespace {

std::vector<result> measure(const plan& plan, const std::string& scenario, const std::vector<int>& threads,
                            const std::vector<int>& connections) {
  auto database = open_floor(plan);
  auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks own{client, "own", std::ranges::max(threads)};
  return compete(plan, *database,
                 {.scenario = scenario,
                  .threads = threads,
                  .connections = connections,
                  .client = client,
                  .pair = [&](int thread) { own.pair(thread); }});
}

}  // namespace

std::vector<result> uncontended(const plan& plan) {
  return measure(plan, "uncontended", {1}, {1});
}

std::vector<result> parallel(const plan& plan) {
  std::vector<int> threads = plan.threads ? std::vector{*plan.threads} : std::vector{64, 256};
  return measure(plan, "parallel", threads, usual_connections);
}

std::vector<result> later(const plan& plan) {
  const int threads = plan.threads.value_or(64);
  const auto slice = plan.slice.value_or(std::chrono::seconds{2});
  const auto database = open_floor(plan);
  const auto client = rowlock::connect(plan.url, plan.settings);
  const own_locks own{client, "later", threads};
  pair_rates goes_on{*database, {client}};
  pair_rates waits{*database, {client}};
  in_turn(
      plan.rounds,
      [&] { goes_on.measure(threads, slice, [&](int thread) { release_async(own.of(thread).acquire()); }); },
      [&] { waits.measure(threads, slice, [&](int thread) { own.pair(thread); }); });
  auto one = compared(plan, "later", threads, *database, goes_on, waits);
  one.details["floor_is"] = "the same with threads that wait for their releases";
  return {one};
}

}  // namespace rowlock::bench
