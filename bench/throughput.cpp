#include "bench/contest.hpp"
#include "bench/own_locks.hpp"

#include <algorithm>

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

}  // namespace rowlock::bench
