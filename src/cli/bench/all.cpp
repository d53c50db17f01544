#include "cli/bench/floor.hpp"
#include "cli/bench/measure.hpp"
#include "cli/bench/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace rowlock::cli::bench {

namespace {

using namespace std::chrono_literals;

// So many locks, acquired once together: the rows are there, the connections warm.
class several {
 public:
  several(const rowlock::client& client, int count) {
    for (int i = 0; i < count; ++i) {
      locks_.emplace_back(rowlock::mutex{client, fmt::format("bench/all/{}/{}", count, i)});
    }
    pair();
  }

  void pair() {
    auto all = rowlock::acquire_all(locks_);
    for (rowlock::release_result result : all.release()) {
      if (result == rowlock::release_result::released) continue;
      throw std::runtime_error(fmt::format("a release of the bench said \"{}\": the measurement is void",
                                           rowlock::to_string(result)));
    }
  }

 private:
  std::vector<rowlock::wanted> locks_;
};

result measure(const plan& plan, floor_database& database, int count) {
  auto slice = plan.slice.value_or(2s);
  auto client = rowlock::connect(plan.url, plan.settings);
  several locks{client, count};
  auto connection = database.connect(0);
  std::vector<double> rates;
  std::vector<double> floors;
  auto measure_rowlock = [&] { rates.push_back(calls_per_second(1, slice, [&](int) { locks.pair(); })); };
  for (int round = 0; round < plan.rounds; ++round) {
    if (round % 2 == 0) measure_rowlock();
    floors.push_back(calls_per_second(1, slice, [&](int) {
      connection->update_together(count);
      connection->update_together(count);
    }));
    if (round % 2 == 1) measure_rowlock();
  }
  result one;
  one.scenario = "all";
  one.threads = count;
  one.unit = "pairs/s of all names";
  one.rowlock = median(rates);
  one.floor = median(floors);
  one.durability = database.durability();
  one.details["rounds"] = plan.rounds;
  return one;
}

}  // namespace

std::vector<result> all(const plan& plan) {
  auto database = open_floor(plan);
  std::vector<result> results;
  for (int count : plan.threads ? std::vector{*plan.threads} : std::vector{2, 8, 32}) {
    results.push_back(measure(plan, *database, std::min(count, floor_rows)));
  }
  return results;
}

}  // namespace rowlock::cli::bench
