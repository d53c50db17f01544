// Many threads use one name: the cost of a shared hold or a permit, and of fairness.
#include "bench/call_rates.hpp"
#include "bench/contest.hpp"
#include "bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace rowlock::bench {

namespace {

// Decides which calls write: one in twenty. Each caller begins at another call, so they do not all write at once.
class turns {
 public:
  explicit turns(int callers) : next_(static_cast<std::size_t>(callers)) {
    std::iota(next_.begin(), next_.end(), 1);
  }
  bool writes(int caller) { return next_[static_cast<std::size_t>(caller)]++ % one_in == 0; }

  static constexpr int one_in = 20;

 private:
  std::vector<int> next_;
};

// One thread is compared with one connection, many threads with the best of several numbers of connections.
std::vector<result> compete_by_threads(const plan& plan, contest sides) {
  auto database = open_floor(plan);
  std::vector<result> results;
  for (int threads : plan.threads ? std::vector{*plan.threads} : std::vector{1, 16}) {
    sides.threads = {threads};
    sides.connections = threads == 1 ? std::vector{1} : usual_connections;
    results.push_back(compete(plan, *database, sides).front());
  }
  return results;
}

}  // namespace

std::vector<result> readers(const plan& plan) {
  auto client = rowlock::connect(plan.url, plan.settings);
  rowlock::shared_mutex read{client, "bench/read"};
  read.acquire().release();
  turns own{std::max(plan.threads.value_or(0), usual_connections.back())};
  turns floors{usual_connections.back()};
  auto results =
      compete_by_threads(plan, {.scenario = "readers",
                                .client = client,
                                .pair =
                                    [&](int thread) {
                                      auto hold = own.writes(thread) ? read.acquire() : read.acquire_shared();
                                      require_released(hold.release());
                                    },
                                .floor_pair =
                                    [&](floor_connection& one, int connection) {
                                      floors.writes(connection) ? one.pair() : one.insert_and_delete();
                                    }});
  for (auto& one : results) one.details["writes"] = fmt::format("one in {}", turns::one_in);
  return results;
}

std::vector<result> semaphore(const plan& plan) {
  auto client = rowlock::connect(plan.url, plan.settings);
  // The capacity is stored, so another capacity needs another name.
  rowlock::counting_semaphore permits{client, fmt::format("bench/permits/{}", plan.capacity), plan.capacity};
  permits.acquire().release();
  auto results =
      compete_by_threads(plan, {.scenario = "semaphore",
                                .client = client,
                                .pair = [&](int) { require_released(permits.acquire().release()); },
                                .floor_pair = [](floor_connection& one, int) { one.insert_and_delete(); }});
  for (auto& one : results) one.details["capacity"] = plan.capacity;
  return results;
}

std::vector<result> permits(const plan& plan) {
  constexpr int rivals = 16;
  const int beside = plan.threads.value_or(4000);
  const auto slice = plan.slice.value_or(std::chrono::seconds{2});
  const auto client = rowlock::connect(plan.url, plan.settings);
  const auto holder = rowlock::connect(plan.url, plan.settings);
  // The capacity is stored, so another capacity needs another name.
  const auto name = [&](int held) { return fmt::format("bench/free/{}/{}", plan.capacity, held); };
  rowlock::counting_semaphore others{holder, name(beside), plan.capacity + beside};
  std::vector<rowlock::hold> held;
  for (int i = 0; i < beside; ++i) held.push_back(others.acquire());
  rowlock::counting_semaphore full{client, name(beside), plan.capacity + beside};
  rowlock::counting_semaphore empty{client, name(0), plan.capacity};
  const auto database = open_floor(plan);
  pair_rates with{*database, {client}};
  pair_rates without{*database, {client}};
  in_turn(
      plan.rounds,
      [&] { with.measure(rivals, slice, [&](int) { require_released(full.acquire().release()); }); },
      [&] { without.measure(rivals, slice, [&](int) { require_released(empty.acquire().release()); }); });
  auto one = compared(plan, "permits", beside, *database, with, without);
  one.details["free"] = plan.capacity;
  return {one};
}

namespace {

// One mutex that threads of all the clients acquire.
class rivalry {
 public:
  rivalry(floor_database& database, const std::vector<rowlock::client>& clients, const std::string& name,
          bool fair)
      : rates_{database, clients} {
    for (const auto& client : clients) {
      locks_.push_back(std::make_unique<rowlock::mutex>(client, name, lock_options{.fair = fair}));
    }
    locks_.front()->acquire().release();
  }

  void measure(int threads, std::chrono::nanoseconds slice) {
    rates_.measure(threads, slice, [this](int thread) {
      require_released(locks_[static_cast<std::size_t>(thread) % locks_.size()]->acquire().release());
    });
  }
  const pair_rates& rates() const { return rates_; }

 private:
  std::vector<std::unique_ptr<rowlock::mutex>> locks_;
  pair_rates rates_;
};

}  // namespace

std::vector<result> unfair(const plan& plan) {
  // Two clients are like two processes: a hand-over from one to the other goes through the database.
  std::vector<rowlock::client> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(rowlock::connect(plan.url, plan.settings));
  const int threads = plan.threads.value_or(8);
  const auto slice = plan.slice.value_or(std::chrono::seconds{2});
  const auto database = open_floor(plan);
  rivalry without{*database, clients, "bench/unfair", false};
  rivalry with{*database, clients, "bench/fair", true};
  in_turn(
      plan.rounds, [&] { without.measure(threads, slice); }, [&] { with.measure(threads, slice); });
  return {compared(plan, "unfair", threads, *database, without.rates(), with.rates())};
}

}  // namespace rowlock::bench
