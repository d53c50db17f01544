#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"
#include "store/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int names_lost = 50'000;
constexpr int names_at_once = 1000;

std::string lost_name(int i) {
  return fmt::format("bench/lost/{:08}", i);
}

// Counts the holders that were notified, and records when the last one was.
class roll_call {
 public:
  explicit roll_call(int count) : missing_(count) {}

  void tell() {
    if (--missing_ > 0) return;
    ended_at_ns_ = monotonic_ns();
  }
  // 0 until the last holder was notified.
  std::int64_t ended_at_ns() const { return ended_at_ns_; }

 private:
  std::atomic<int> missing_;
  std::atomic<std::int64_t> ended_at_ns_ = 0;
};

using callback = std::stop_callback<std::function<void()>>;

std::vector<rowlock::hold> acquire(const rowlock::client& client, int count) {
  std::vector<rowlock::hold> holds;
  for (int from = 0; from < count; from += names_at_once) {
    std::vector<rowlock::wanted> locks;
    for (int i = from; i < std::min(count, from + names_at_once); ++i) {
      locks.emplace_back(rowlock::mutex{client, lost_name(i)});
    }
    rowlock::hold_set some = rowlock::acquire_all(locks);
    for (std::size_t i = 0; i < some.size(); ++i) holds.push_back(some.take(i));
  }
  return holds;
}

// The time from when the holds were last seen valid until the last stop callback was called.
double told_within_ms(const plan& plan, store::session& side, int count) {
  rowlock::options settings = plan.settings;
  settings.renew_interval = 500ms;
  settings.log = {};  // the log would report each round
  // The margin that options::margin requires for so many holds.
  settings.margin =
      std::max<std::chrono::milliseconds>(settings.margin, std::chrono::milliseconds{count / 200});
  rowlock::client client = rowlock::connect(plan.url, settings);
  std::vector<rowlock::hold> holds = acquire(client, count);
  roll_call told{count};
  std::vector<std::unique_ptr<callback>> callbacks;
  for (const rowlock::hold& hold : holds) {
    callbacks.push_back(std::make_unique<callback>(hold.stop_token(), [&] { told.tell(); }));
  }
  // The next renewal notices that the client's lease is gone.
  const model::lease_id lease[] = {side.show(lost_name(0)).value().row.lease.value()};
  side.end(lease);
  std::int64_t begun = monotonic_ns();
  for (std::int64_t now = begun; holds.front(); now = monotonic_ns()) {
    begun = now;
    std::this_thread::sleep_for(100us);
  }
  const auto give_up = clock::now() + 60s;
  while (told.ended_at_ns() == 0) {
    if (clock::now() > give_up) throw std::runtime_error("not everybody was told of the loss");
    std::this_thread::sleep_for(100us);
  }
  return static_cast<double>(told.ended_at_ns() - begun) / 1e6;
}

}  // namespace

std::vector<result> lost(const plan& plan) {
  const int count = plan.threads.value_or(names_lost);
  store::store_options options;
  options.prefix = plan.settings.prefix;
  options.schema = plan.settings.schema;
  const auto side = store::open(plan.url, options)->connect();
  std::vector<double> many;
  std::vector<double> one_hold;
  in_turn(
      plan.rounds, [&] { many.push_back(told_within_ms(plan, *side, count)); },
      [&] { one_hold.push_back(told_within_ms(plan, *side, 1)); });
  result one;
  one.scenario = "lost";
  one.threads = count;
  one.unit = "ms until all are told";
  one.rowlock = median(many);
  one.floor = median(one_hold);
  one.durability = open_floor(plan)->durability();
  one.details["floor_is"] = "the same with one holder";
  one.details["longest_ms"] = quantile(many, 1);
  one.details["rounds"] = plan.rounds;
  return {one};
}

}  // namespace rowlock::bench
