#include "bench/contest.hpp"

#include "bench/call_rates.hpp"
#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

// The floor at several numbers of connections, without the numbers that the server has no room for.
class floors {
 public:
  floors(floor_database& database, const contest& sides) : pair_{sides.floor_pair} {
    const auto& sizes = sides.connections;
    try {
      for (int row = 0; row < sizes.back(); ++row) connections_.push_back(database.connect(row));
    } catch (const std::exception&) {
      if (static_cast<int>(connections_.size()) < sizes.front()) throw;
    }
    for (int size : sizes) {
      if (size <= static_cast<int>(connections_.size())) rates_.emplace_back(size, database);
    }
  }

  void measure(std::chrono::nanoseconds slice) {
    for (auto& [size, rates] : rates_) {
      rates.measure(size, slice, [this](int i) { pair_(*connections_[static_cast<std::size_t>(i)], i); });
    }
  }

  const call_rates& best() const {
    return std::ranges::max_element(rates_, {}, [](const auto& one) { return one.second.per_second(); })
        ->second;
  }

  nlohmann::ordered_json by_connections() const {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [size, rates] : rates_) json[std::to_string(size)] = rates.per_second();
    return json;
  }

 private:
  std::function<void(floor_connection&, int)> pair_;
  std::vector<std::unique_ptr<floor_connection>> connections_;
  std::vector<std::pair<int, call_rates>> rates_;
};

}  // namespace

std::vector<result> compete(const plan& plan, floor_database& database, const contest& sides) {
  auto slice = plan.slice.value_or(2s);
  floors floor{database, sides};
  std::deque<pair_rates> own;
  for (std::size_t i = 0; i < sides.threads.size(); ++i)
    own.emplace_back(database, std::vector{sides.client});
  auto measure_rowlock = [&] {
    for (std::size_t i = 0; i < own.size(); ++i) {
      const int count = sides.threads[i];
      own[i].measure(
          [&] { return sides.run ? sides.run(count, slice) : repeat_calls(count, slice, sides.pair); });
    }
  };
  in_turn(plan.rounds, measure_rowlock, [&] { floor.measure(slice); });
  std::vector<result> results;
  for (std::size_t i = 0; i < own.size(); ++i) {
    auto one = compared(plan, sides.scenario, sides.threads[i], database, own[i], floor.best());
    one.details["floor_by_connections"] = floor.by_connections();
    results.push_back(std::move(one));
  }
  return results;
}

}  // namespace rowlock::bench
