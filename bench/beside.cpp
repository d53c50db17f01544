#include "bench/floor.hpp"
#include "bench/measure.hpp"
#include "bench/scenario.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::bench {

namespace {

using namespace std::chrono_literals;

constexpr int readers_beside = 200;
constexpr int waiters_beside = 1000;
constexpr int releases_per_round = 10;

// Threads that work in a loop until the object is destroyed.
class crowd {
 public:
  crowd(int count, const std::function<void(int, std::stop_token)>& work) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, work, i] {
        try {
          work(i, stop_.get_token());
        } catch (...) {
          failure_.capture();
        }
      });
    }
  }
  ~crowd() { stop_.request_stop(); }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  void let_go() { stop_.request_stop(); }
  void require_success() {
    let_go();
    threads_.clear();
    failure_.rethrow();
  }

 private:
  std::stop_source stop_;
  first_failure failure_;
  std::vector<std::jthread> threads_;
};

std::vector<double> releases_ms(const rowlock::client& client) {
  std::vector<double> took;
  for (int i = 0; i < releases_per_round; ++i) {
    rowlock::hold held = rowlock::mutex{client, "bench/released"}.acquire();
    const auto begun = monotonic_ns();
    require_released(held.release());
    took.push_back(static_cast<double>(monotonic_ns() - begun) / 1e6);
  }
  return took;
}

// How long releases take while `readers` threads of the client ask whether a lock is held.
std::vector<double> releases_beside_reads_ms(const plan& plan, int readers) {
  const rowlock::client client = rowlock::connect(plan.url, plan.settings);
  releases_ms(client);  // connects the client
  crowd asks{readers, [&](int i, std::stop_token stop) {
               const rowlock::mutex one{client, fmt::format("bench/asked/{}", i)};
               while (!stop.stop_requested()) std::ignore = one.is_locked();
             }};
  if (readers > 0) std::this_thread::sleep_for(500ms);
  auto took = releases_ms(client);
  asks.require_success();
  return took;
}

void until_queued(rowlock::admin& admin, const std::string& name, int count) {
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  const auto queued = [&] {
    const auto shown = admin.show(name);
    return shown ? static_cast<int>(shown->waiters) : 0;
  };
  while (queued() != count) {
    if (std::chrono::steady_clock::now() > give_up)
      throw std::runtime_error(fmt::format("{} of {} wait for {}", queued(), count, name));
    std::this_thread::sleep_for(20ms);
  }
}

// The time from when the holder releases and the waiters of its client give up, until another client has the lock.
double passed_on_ms(const plan& plan, int waiters) {
  const std::string name = "bench/given-up";
  const rowlock::client here = rowlock::connect(plan.url, plan.settings);
  const rowlock::client there = rowlock::connect(plan.url, plan.settings);
  rowlock::admin admin{there};
  rowlock::hold held = rowlock::mutex{here, name}.acquire();
  crowd waits{waiters, [&](int, std::stop_token stop) {
                try {
                  const rowlock::hold got = rowlock::mutex{here, name}.acquire({.stop = stop});
                } catch (const rowlock::error& failure) {
                  if (failure.code() != rowlock::errc::cancelled) throw;
                }
              }};
  until_queued(admin, name, waiters);
  auto next = std::async(std::launch::async, [&] {
    rowlock::hold got = rowlock::mutex{there, name}.acquire();
    return monotonic_ns();
  });
  until_queued(admin, name, waiters + 1);
  const auto begun = monotonic_ns();
  waits.let_go();
  held.release();
  const double took = static_cast<double>(next.get() - begun) / 1e6;
  waits.require_success();
  return took;
}

result compared(const plan& plan, int threads, std::string unit, std::string floor_is,
                const std::vector<double>& beside, const std::vector<double>& alone) {
  result one;
  one.scenario = "beside";
  one.threads = threads;
  one.unit = std::move(unit);
  one.rowlock = median(beside);
  one.floor = median(alone);
  one.durability = open_floor(plan)->durability();
  one.details["floor_is"] = std::move(floor_is);
  one.details["longest_ms"] = quantile(beside, 1);
  one.details["rounds"] = plan.rounds;
  return one;
}

}  // namespace

std::vector<result> beside(const plan& plan) {
  use_small_stacks();
  std::vector<double> read;
  std::vector<double> unread;
  std::vector<double> given_up;
  std::vector<double> alone;
  const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  const int readers = plan.threads.value_or(readers_beside);
  const int waiters = plan.threads.value_or(waiters_beside);
  in_turn(
      plan.rounds, [&] { add(read, releases_beside_reads_ms(plan, readers)); },
      [&] { add(unread, releases_beside_reads_ms(plan, 0)); });
  in_turn(
      plan.rounds, [&] { given_up.push_back(passed_on_ms(plan, waiters)); },
      [&] { alone.push_back(passed_on_ms(plan, 0)); });
  return {compared(plan, readers, "ms of a release beside reads", "the same without reads", read, unread),
          compared(plan, waiters, "ms to the next client beside withdrawals", "the same without withdrawals",
                   given_up, alone)};
}

}  // namespace rowlock::bench
