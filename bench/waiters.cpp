#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <stop_token>
#include <thread>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

std::string waited_name(int waiter) {
  // Half of the waiters stand in one queue, the others each in a queue of their own.
  return waiter % 2 == 0 ? "bench/waited/all" : fmt::format("bench/waited/{}", waiter);
}

// Acquires that wait, all in one client, until the object is destroyed.
class waiting {
 public:
  waiting(const plan& plan, rowlock::admin& admin, int count)
      : client_{rowlock::connect(plan.url, plan.settings)} {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        rowlock::mutex mutex{client_, waited_name(i)};
        try {
          const rowlock::hold held = mutex.acquire({.stop = stop_.get_token()});
          granted_ = true;
        } catch (const rowlock::error& error) {
          if (error.code() != rowlock::errc::cancelled) granted_ = true;
        }
      });
    }
    auto give_up = std::chrono::steady_clock::now() + 60s;
    while (queued(admin) != count) {
      if (granted_ || std::chrono::steady_clock::now() > give_up) {
        stop_.request_stop();
        throw std::runtime_error(fmt::format("only {} of {} acquires are waiting", queued(admin), count));
      }
      std::this_thread::sleep_for(50ms);
    }
  }

  ~waiting() {
    stop_.request_stop();
    threads_.clear();
    client_.close();
  }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

  const rowlock::client& client() const { return client_; }
  bool disturbed() const { return granted_; }
  rowlock::statistics stats() const { return client_.stats(); }

 private:
  static int queued(rowlock::admin& admin) {
    std::int64_t sum = 0;
    for (const rowlock::lock_info& lock : admin.list()) {
      if (lock.name.starts_with("bench/waited/")) sum += lock.waiters;
    }
    return static_cast<int>(sum);
  }

  rowlock::client client_;
  std::stop_source stop_;
  std::atomic<bool> granted_ = false;
  std::vector<std::jthread> threads_;
};

struct cost {
  double activity_per_second = 0;
  double cpu_percent = 0;
  double statements_per_second = 0;  // of the waiting client, by its own count
  std::int64_t activity = 0;
  std::uint64_t renewals = 0;
};

cost measure(const plan& plan, floor_database& database, rowlock::admin& admin, int count,
             std::chrono::milliseconds slice) {
  waiting crowd{plan, admin, count};
  // What the enqueuing left behind (wake-ups, statistics that are still to be sent) must not be counted as waiting.
  std::this_thread::sleep_for(2s);
  auto begin = std::chrono::steady_clock::now();
  auto stats_before = crowd.stats();
  std::int64_t before = database.activity();
  auto cpu_before = cpu_time();
  std::this_thread::sleep_for(slice);
  auto cpu = cpu_time() - cpu_before;
  std::int64_t activity = database.activity() - before;
  auto stats = crowd.stats();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (crowd.disturbed()) throw std::runtime_error("a waiting acquire returned: the measurement is void");
  return {.activity_per_second = static_cast<double>(activity) / seconds,
          .cpu_percent = std::chrono::duration<double>(cpu).count() / seconds * 100,
          .statements_per_second = static_cast<double>(stats.statements - stats_before.statements) / seconds,
          .activity = activity,
          .renewals = stats.renewals - stats_before.renewals};
}

// The time from the start of a release until the waiting acquire returns, while others of the waiter's process wait,
// too.
std::vector<double> hand_overs_ms(const plan& plan, const rowlock::client& holder, rowlock::admin& admin,
                                  int waiting_beside, std::chrono::milliseconds slice) {
  waiting crowd{plan, admin, waiting_beside};
  const char* name = "bench/passed";
  rowlock::mutex here{holder, name};
  rowlock::mutex there{crowd.client(), name};
  std::vector<double> took;
  const auto end = std::chrono::steady_clock::now() + slice;
  while (std::chrono::steady_clock::now() < end) {
    rowlock::hold held = here.acquire();
    std::future<std::int64_t> returned_at = std::async(std::launch::async, [&] {
      rowlock::hold next = there.acquire();
      return monotonic_ns();
    });
    while (admin.show(name).value().waiters == 0 &&
           returned_at.wait_for(1ms) == std::future_status::timeout) {
    }
    // The waiter is in the queue; this gives its client time to listen again.
    std::this_thread::sleep_for(5ms);
    const auto begun = monotonic_ns();
    held.release();
    took.push_back(static_cast<double>(returned_at.get() - begun) / 1e6);
  }
  if (crowd.disturbed()) throw std::runtime_error("a waiting acquire returned: the measurement is void");
  return took;
}

}  // namespace

std::vector<result> waiters(const plan& plan) {
  use_small_stacks();
  int count = plan.threads.value_or(1000);
  const int crowds[] = {count, 3 * count};
  auto slice = plan.slice.value_or(60s);
  auto database = open_floor(plan);

  // The holder's lease outlives the run without a renewal, so only the waiters' statements are counted.
  bench::plan long_lived = plan;
  long_lived.settings.ttl = 1h;
  rowlock::client holder = rowlock::connect(plan.url, long_lived.settings);
  std::vector<rowlock::hold> holds;
  holds.push_back(rowlock::mutex{holder, waited_name(0)}.acquire());
  for (int i = 1; i < crowds[1]; i += 2) holds.push_back(rowlock::mutex{holder, waited_name(i)}.acquire());
  rowlock::admin admin{holder};

  // The single waiter is measured first, because it would also count what a thousand waiters leave behind when they
  // give up.
  cost single = measure(plan, *database, admin, 1, slice / 4);
  cost many = measure(plan, *database, admin, count, slice);

  result one;
  one.scenario = "waiters";
  one.threads = count;
  one.durability = database->durability();
  if (is_sqlite(plan)) {
    one.unit = "% of a core";
    one.rowlock = many.cpu_percent;
    one.floor = single.cpu_percent;
    one.details["write_transactions"] = many.activity;
    one.details["renewals"] = many.renewals;
    one.details["writes_beyond_renewals"] = many.activity - static_cast<std::int64_t>(many.renewals);
  } else {
    one.unit = "statements/s";
    one.rowlock = many.activity_per_second;
    one.floor = single.activity_per_second;
    one.details["cpu_percent"] = many.cpu_percent;
  }
  for (int crowd : crowds) {
    std::vector<double> took =
        hand_overs_ms(plan, holder, admin, crowd, std::min<std::chrono::milliseconds>(slice, 5s));
    one.details[fmt::format("hand_over_p50_ms_beside_{}", crowd)] = median(took);
    one.details[fmt::format("hand_over_p99_ms_beside_{}", crowd)] = quantile(took, 0.99);
  }
  one.details["floor_is"] = "the same with one waiter";
  one.details["counted"] = database->activity_name();
  one.details["client_statements_per_second"] = many.statements_per_second;
  one.details["seconds"] = std::chrono::duration<double>(slice).count();
  return {one};
}

}  // namespace rowlock::bench
