#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

constexpr int names_held = 10'000;
constexpr auto interval = 2s;

// A client that holds `count` locks and renews its lease every two seconds. Sweeps are off, so it does nothing else.
class holder {
 public:
  holder(const plan& plan, int count) : client_{rowlock::connect(plan.url, settings(plan))} {
    for_each_parallel(count, 64, [&](int i) {
      rowlock::hold hold = rowlock::mutex{client_, fmt::format("bench/held/{}", i)}.acquire();
      std::scoped_lock lock{mutex_};
      holds_.push_back(std::move(hold));
    });
  }

  ~holder() {
    // The same threads release the holds, so that the releases are sent in batches; closing the client would report
    // each hold as lost.
    for_each_parallel(static_cast<int>(holds_.size()), 64,
                      [this](int i) { holds_[static_cast<std::size_t>(i)].release(); });
  }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;

  // Returns when the next renewal is confirmed and what it wrote can be counted.
  void await_renewal() {
    std::uint64_t before = client_.stats().renewals;
    auto give_up = std::chrono::steady_clock::now() + 5 * interval;
    while (client_.stats().renewals == before) {
      if (std::chrono::steady_clock::now() > give_up)
        throw std::runtime_error("the lease is not renewed any more");
      std::this_thread::sleep_for(10ms);
    }
    // PostgreSQL's backends publish their counters when they become idle, just after the answer.
    std::this_thread::sleep_for(interval / 4);
  }

  void check() const {
    for (const rowlock::hold& hold : holds_) {
      if (!hold.valid()) throw std::runtime_error("a hold was lost: the measurement is void");
    }
  }

 private:
  static rowlock::options settings(const plan& plan) {
    rowlock::options settings = plan.settings;
    settings.ttl = 3 * interval;
    settings.statement_timeout = interval;
    settings.sweep_interval.reset();
    return settings;
  }

  rowlock::client client_;
  std::mutex mutex_;
  std::vector<rowlock::hold> holds_;
};

double rows_a_renewal(const plan& plan, floor_database& database, int count) {
  holder holder{plan, count};
  // The statistics of the acquires must be published before the renewal is measured.
  auto settled = std::chrono::steady_clock::now() + database.counts_within();
  do {
    holder.await_renewal();
  } while (std::chrono::steady_clock::now() < settled);
  std::vector<double> rows;
  std::int64_t before = database.rows_written();
  for (int renewal = 0; renewal < plan.rounds; ++renewal) {
    holder.await_renewal();
    std::int64_t now = database.rows_written();
    rows.push_back(static_cast<double>(now - before));
    before = now;
  }
  holder.check();
  return std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(rows.size());
}

}  // namespace

std::vector<result> held(const plan& plan) {
  int count = plan.threads.value_or(names_held);
  auto database = open_floor(plan);
  result one;
  one.scenario = "held";
  one.threads = count;
  one.unit = "rows written a renewal";
  one.rowlock = rows_a_renewal(plan, *database, count);
  one.floor = rows_a_renewal(plan, *database, 1);
  one.durability = database->durability();
  one.details["floor_is"] = "the same with one lock held";
  one.details["counted"] = database->rows_written_name();
  one.details["renewals"] = plan.rounds;
  return {one};
}

}  // namespace rowlock::bench
