#include "bench/contest.hpp"
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::bench {

namespace {

// Locks, one for each thread, acquired once, so that their rows exist and the connections are warm.
class locks {
 public:
  locks(const rowlock::client& client, int count) {
    for (int i = 0; i < count; ++i) {
      mutexes_.push_back(std::make_unique<rowlock::mutex>(client, fmt::format("bench/own/{}", i)));
    }
    for_each_parallel(count, 16, [this](int i) { pair(i); });
  }

  void pair(int thread) { require_released(mutexes_[static_cast<std::size_t>(thread)]->acquire().release()); }

 private:
  std::vector<std::unique_ptr<rowlock::mutex>> mutexes_;
};

std::vector<result> measure(const plan& plan, const std::string& scenario, const std::vector<int>& threads,
                            const std::vector<int>& connections) {
  auto database = open_floor(plan);
  auto client = rowlock::connect(plan.url, plan.settings);
  locks own{client, *std::max_element(threads.begin(), threads.end())};
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
