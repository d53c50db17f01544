// The form of most scenarios: threads repeat an operation with rowlock, connections repeat its equivalent
// without rowlock, and the best number of connections is the floor.
#pragma once

#include "bench/call_rates.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::bench {

struct contest {
  std::string scenario;
  std::vector<int> threads = {};      // one result for each
  std::vector<int> connections = {};  // of the floor, ascending; those beyond the server's limit are left out
  rowlock::client client;             // acquires and releases for rowlock's side
  std::function<void(int thread)> pair = {};  // one acquire and its release
  std::function<void(floor_connection&, int connection)> floor_pair = [](auto& one, int) { one.pair(); };
  // If it is there: repeats pairs by itself, instead of threads that call `pair`.
  std::function<repeated(int count, std::chrono::nanoseconds slice)> run = {};
};

std::vector<result> compete(const plan& plan, floor_database& database, const contest& sides);

// The result of a scenario that compares rowlock's pairs per second with something else's. Rates: pair_rates or
// call_rates. The caller adds what only this scenario prints.
template <class Rates>
result compared(const plan& plan, std::string scenario, int threads, floor_database& database,
                const pair_rates& own, const Rates& floor) {
  result one;
  one.scenario = std::move(scenario);
  one.threads = threads;
  one.unit = "pairs/s";
  one.rowlock = own.per_second();
  one.floor = floor.per_second();
  one.durability = database.durability();
  own.describe(one.details);
  floor.describe(one.details, "floor_");
  one.details["rounds"] = plan.rounds;
  return one;
}

// The numbers of connections with which many threads are compared.
inline const std::vector<int> usual_connections = {4, 16, 64};

}  // namespace rowlock::bench
