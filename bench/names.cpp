// Many names that are each used rarely: what the size of the table costs.
#include "bench/call_rates.hpp"
#include "bench/contest.hpp"
#include "bench/measure.hpp"
#include "bench/own_tables.hpp"
#include "bench/stored_names.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace rowlock::bench {

namespace {

// Threads that acquire and release random ones of the stored names, each among names of its own, so that none waits.
class random_pairs {
 public:
  random_pairs(own_tables& tables, int names)
      : client_{tables.client()}, names_{names}, rates_{tables.floor(), {tables.client()}} {
    create_names(tables.its_plan(), names);
    for (unsigned seed = 1; choices_.size() < threads; ++seed) choices_.emplace_back(seed);
  }

  void measure(std::chrono::nanoseconds slice) {
    rates_.measure(threads, slice, [this](int thread) {
      rowlock::mutex any{client_, stored_name(choose(thread))};
      require_released(any.acquire().release());
    });
  }
  const pair_rates& rates() const { return rates_; }

  static constexpr int threads = 16;

 private:
  int choose(int thread) {
    std::uniform_int_distribution<int> among{0, names_ / threads - 1};
    return among(choices_[static_cast<std::size_t>(thread)]) * threads + thread;
  }

  rowlock::client client_;
  int names_;
  std::vector<std::minstd_rand> choices_;  // of each thread
  pair_rates rates_;
};

}  // namespace

std::vector<result> names(const plan& plan) {
  constexpr int few_names = 1000;
  const int many_names = std::max(plan.threads.value_or(a_million), random_pairs::threads);
  const auto slice = plan.slice.value_or(std::chrono::seconds{2});
  own_tables large{plan, "names_many"};
  own_tables small{plan, "names_few"};
  random_pairs many{large, many_names};
  random_pairs few{small, few_names};
  in_turn(
      plan.rounds, [&] { many.measure(slice); }, [&] { few.measure(slice); });
  auto one = compared(plan, "names", many_names, large.floor(), many.rates(), few.rates());
  one.details["floor_is"] = "the same with a thousand names";
  return {one};
}

}  // namespace rowlock::bench
