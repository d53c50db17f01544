// Many clients that only hold something: what each costs while nothing happens.
#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

// A server has a limit of connections, and a file has none.
int most_clients(const plan& plan) {
  return plan.url.starts_with("sqlite:") ? 300 : 20;
}

// Clients with a hold each, which they keep until the object is destroyed.
class idle_holders {
 public:
  idle_holders(const plan& plan, int count) {
    rowlock::options settings = plan.settings;
    settings.connections = 2;
    for (int i = 0; i < count; ++i) {
      clients_.push_back(rowlock::connect(plan.url, settings));
      holds_.push_back(rowlock::mutex{clients_.back(), fmt::format("bench/idle/{}", i)}.acquire());
    }
    // What the acquires have left to do is done before the processor's time is read.
    std::this_thread::sleep_for(1s);
  }

  // Milliseconds of processor time that each client uses in a second.
  double cost_ms(std::chrono::nanoseconds slice) const {
    const auto used = cpu_time();
    const auto begun = monotonic_ns();
    std::this_thread::sleep_for(slice);
    const double milliseconds = std::chrono::duration<double, std::milli>(cpu_time() - used).count();
    const double seconds = static_cast<double>(monotonic_ns() - begun) / 1e9;
    for (const rowlock::hold& hold : holds_) {
      if (!hold.valid()) throw std::runtime_error("a hold was lost: the measurement is void");
    }
    return milliseconds / seconds / static_cast<double>(clients_.size());
  }

 private:
  std::vector<rowlock::client> clients_;
  std::vector<rowlock::hold> holds_;
};

}  // namespace

std::vector<result> idle(const plan& plan) {
  use_small_stacks();
  const int count = plan.threads.value_or(most_clients(plan));
  const auto slice = plan.slice.value_or(10s);
  std::vector<double> many;
  std::vector<double> alone;
  in_turn(
      plan.rounds,
      [&] {
        many.push_back(idle_holders{plan, count}.cost_ms(slice));
      },
      [&] {
        alone.push_back(idle_holders{plan, 1}.cost_ms(slice));
      });
  result one;
  one.scenario = "idle";
  one.threads = count;
  one.unit = "ms of processor time a second and client";
  one.rowlock = median(many);
  one.floor = median(alone);
  one.durability = open_floor(plan)->durability();
  one.details["floor_is"] = "the same with one client";
  one.details["cpu_percent_of_all_clients"] = one.rowlock * count / 10;
  one.details["rounds"] = plan.rounds;
  return {one};
}

}  // namespace rowlock::bench
