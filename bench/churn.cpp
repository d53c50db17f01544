// Locks that change often while a transaction with an old snapshot is open: the database must keep every old version of
// their rows for it.
#include "bench/contest.hpp"
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/own_locks.hpp"
#include "bench/scenario.hpp"

#include <chrono>

namespace rowlock::bench {

std::vector<result> churn(const plan& plan) {
  const int threads = plan.threads.value_or(16);
  const auto slice = plan.slice.value_or(std::chrono::seconds{5});
  const auto client = rowlock::connect(plan.url, plan.settings);
  const auto database = open_floor(plan);
  const own_locks kept{client, "churn-kept", threads};
  const own_locks removed{client, "churn-removed", threads};
  pair_rates with{*database, {client}};
  pair_rates without{*database, {client}};
  in_turn(
      plan.rounds,
      [&] {
        const auto snapshot = database->open_snapshot();
        with.measure(threads, slice, [&](int thread) { kept.pair(thread); });
      },
      [&] { without.measure(threads, slice, [&](int thread) { removed.pair(thread); }); });
  auto one = compared(plan, "churn", threads, *database, with, without);
  one.details["floor_is"] = "the same without the snapshot";
  one.details["seconds"] = std::chrono::duration<double>(slice).count();
  return {one};
}

}  // namespace rowlock::bench
