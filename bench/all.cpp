#include "bench/contest.hpp"
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::bench {

namespace {

// The given number of locks, acquired together once, so that their rows exist and the connections are warm.
class several {
 public:
  several(const rowlock::client& client, int count) {
    for (int i = 0; i < count; ++i) {
      locks_.emplace_back(rowlock::mutex{client, fmt::format("bench/all/{}/{}", count, i)});
    }
    pair();
  }

  void pair() {
    for (rowlock::release_result result : rowlock::acquire_all(locks_).release()) require_released(result);
  }

 private:
  std::vector<rowlock::wanted> locks_;
};

result measure(const plan& plan, floor_database& database, int count) {
  auto client = rowlock::connect(plan.url, plan.settings);
  several locks{client, count};
  auto one = compete(plan, database,
                     {.scenario = "all",
                      .threads = {1},
                      .connections = {1},
                      .client = client,
                      .pair = [&](int) { locks.pair(); },
                      .floor_pair =
                          [count](floor_connection& connection, int) {
                            connection.update_together(count);
                            connection.update_together(count);
                          }})
                 .front();
  one.threads = count;
  one.unit = "pairs/s of all names";
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

}  // namespace rowlock::bench
