// Many clients acquire permits of one name, of which there are enough for all: what rivals for one row cost each other.
#include "bench/contest.hpp"
#include "bench/hot_row.hpp"
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>

namespace rowlock::bench {

namespace {

// Permits of one semaphore, for which nobody ever waits. Each client is like a process: it has connections of its own,
// and none of its requests is joined with those of another client.
class hot_permits {
 public:
  hot_permits(floor_database& database, const std::vector<rowlock::client>& clients, std::int64_t capacity)
      : rates_{database, clients} {
    for (const auto& client : clients) {
      semaphores_.push_back(std::make_unique<rowlock::counting_semaphore>(
          client, fmt::format("bench/permits/{}", capacity), capacity));
    }
    // Before the clock runs, each client makes its lease and opens its connections.
    for (const auto& one : semaphores_) one->acquire().release();
  }

  void measure(std::chrono::nanoseconds slice) {
    rates_.measure(static_cast<int>(semaphores_.size()), slice, [this](int client) {
      const auto result = semaphores_[static_cast<std::size_t>(client)]->acquire().release();
      // The release is retried in the background, because rivals had the row for so long.
      if (result == rowlock::release_result::pending) {
        pending_.fetch_add(1, std::memory_order_relaxed);
      } else {
        require_released(result);
      }
    });
  }
  int pending() const { return pending_; }
  const pair_rates& rates() const { return rates_; }

 private:
  std::vector<std::unique_ptr<rowlock::counting_semaphore>> semaphores_;
  pair_rates rates_;
  std::atomic<int> pending_ = 0;
};

}  // namespace

std::vector<result> clients(const plan& plan) {
  const auto slice = plan.slice.value_or(std::chrono::seconds{2});
  // There is a permit for each client, so none of them queues.
  const auto sizes = plan.threads ? std::vector{*plan.threads} : std::vector{2, 4, 8, 16};
  const auto capacity = std::max<std::int64_t>(plan.capacity, 1000);
  const auto database = open_floor(plan);
  std::vector<result> results;
  for (const int size : sizes) {
    std::vector<rowlock::client> clients;
    for (int i = 0; i < size; ++i) clients.push_back(rowlock::connect(plan.url, plan.settings));
    hot_permits permits{*database, clients, capacity};
    hot_row row{*database, size};
    in_turn(
        plan.rounds, [&] { permits.measure(slice); }, [&] { row.measure(slice); });
    auto one = compared(plan, "clients", size, *database, permits.rates(), row.rates());
    one.details["of_the_fewest_clients"] =
        results.empty() ? 1.0 : one.rowlock / std::max(results.front().rowlock, 1e-9);
    one.details["pending_releases"] = permits.pending();
    results.push_back(std::move(one));
  }
  return results;
}

}  // namespace rowlock::bench
