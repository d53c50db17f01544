#include "cli/bench/floor.hpp"
#include "cli/bench/measure.hpp"
#include "cli/bench/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace rowlock::cli::bench {

namespace {

using namespace std::chrono_literals;

// Locks, one a thread, that were acquired once: the rows are there, the connections warm.
class locks {
 public:
  locks(const plan& plan, int count) : client_{rowlock::connect(plan.url, plan.settings)} {
    for (int i = 0; i < count; ++i) {
      mutexes_.push_back(std::make_unique<rowlock::mutex>(client_, fmt::format("bench/own/{}", i)));
    }
    for_each_parallel(count, 16, [this](int i) { pair(i); });
  }

  void pair(int thread) {
    rowlock::hold hold = mutexes_[static_cast<std::size_t>(thread)]->acquire();
    rowlock::release_result result = hold.release();
    if (result != rowlock::release_result::released) {
      throw std::runtime_error(fmt::format("a release of the bench said \"{}\": the measurement is void",
                                           rowlock::to_string(result)));
    }
  }

 private:
  rowlock::client client_;
  std::vector<std::unique_ptr<rowlock::mutex>> mutexes_;
};

// The floor at several numbers of connections, as far as the server has them.
class floors {
 public:
  floors(floor_database& database, std::vector<int> sizes) {
    try {
      for (int row = 0; row < sizes.back(); ++row) connections_.push_back(database.connect(row));
    } catch (const std::exception&) {
      if (static_cast<int>(connections_.size()) < sizes.front()) throw;
    }
    for (int size : sizes) {
      if (size <= static_cast<int>(connections_.size())) rates_.push_back({size, {}});
    }
  }

  void measure(std::chrono::nanoseconds slice) {
    for (auto& [size, rates] : rates_) {
      rates.push_back(calls_per_second(size, slice,
                                       [this](int i) { connections_[static_cast<std::size_t>(i)]->pair(); }));
    }
  }

  double best() const {
    double best = 0;
    for (const auto& [size, rates] : rates_) best = std::max(best, median(rates));
    return best;
  }

  nlohmann::ordered_json by_connections() const {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [size, rates] : rates_) json[std::to_string(size)] = median(rates);
    return json;
  }

 private:
  std::vector<std::unique_ptr<floor_connection>> connections_;
  std::vector<std::pair<int, std::vector<double>>> rates_;
};

std::vector<result> measure(const plan& plan, const std::string& scenario, const std::vector<int>& threads,
                            const std::vector<int>& connections) {
  auto slice = plan.slice.value_or(2s);
  auto database = open_floor(plan);
  floors floor{*database, connections};
  locks own{plan, *std::max_element(threads.begin(), threads.end())};
  std::vector<std::vector<double>> rates(threads.size());
  auto measure_rowlock = [&] {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      rates[i].push_back(calls_per_second(threads[i], slice, [&](int thread) { own.pair(thread); }));
    }
  };
  for (int round = 0; round < plan.rounds; ++round) {
    // Whoever begins a round has the advantage or the disadvantage of it in turn.
    if (round % 2 == 0) measure_rowlock();
    floor.measure(slice);
    if (round % 2 == 1) measure_rowlock();
  }
  std::vector<result> results;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    result one;
    one.scenario = scenario;
    one.threads = threads[i];
    one.unit = "pairs/s";
    one.rowlock = median(rates[i]);
    one.floor = floor.best();
    one.durability = database->durability();
    one.details["floor_by_connections"] = floor.by_connections();
    one.details["rounds"] = plan.rounds;
    results.push_back(std::move(one));
  }
  return results;
}

}  // namespace

std::vector<result> uncontended(const plan& plan) {
  return measure(plan, "uncontended", {1}, {1});
}

std::vector<result> parallel(const plan& plan) {
  std::vector<int> threads = plan.threads ? std::vector{*plan.threads} : std::vector{64, 256};
  return measure(plan, "parallel", threads, {4, 16, 64});
}

}  // namespace rowlock::cli::bench
