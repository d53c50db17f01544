#include "bench/measure.hpp"

#include <fmt/format.h>

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <latch>
#include <stdexcept>
#include <thread>

namespace rowlock::bench {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::chrono::nanoseconds cpu_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  double position = fraction * static_cast<double>(values.size() - 1);
  auto below = static_cast<std::size_t>(position);
  std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

void first_failure::capture() {
  std::scoped_lock lock{mutex_};
  if (!failure_) failure_ = std::current_exception();
  failed_ = true;
}

void first_failure::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

void in_turn(int rounds, const std::function<void()>& rowlock, const std::function<void()>& floor) {
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) rowlock();
    floor();
    if (round % 2 == 1) rowlock();
  }
}

void require_released(rowlock::release_result result) {
  if (result == rowlock::release_result::released) return;
  throw std::runtime_error(
      fmt::format("a release of the bench said \"{}\": the measurement is void", rowlock::to_string(result)));
}

repeated repeat_calls(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& work) {
  std::latch ready{threads + 1};
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<std::uint64_t> late_calls = 0;
  first_failure failure;
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      ready.arrive_and_wait();
      try {
        while (!stop && !failure.failed()) {
          work(i);
          (stop ? late_calls : calls).fetch_add(1, std::memory_order_relaxed);
        }
      } catch (...) {
        failure.capture();
      }
    });
  }
  ready.arrive_and_wait();
  std::int64_t begin = monotonic_ns();
  std::int64_t end = begin + slice.count();
  while ((monotonic_ns() < end || calls == 0) && !failure.failed()) {
    const std::chrono::nanoseconds left{end - monotonic_ns()};
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(left, std::chrono::milliseconds{1},
                                                                     std::chrono::milliseconds{50}));
  }
  const auto done = calls.load();
  auto took = static_cast<double>(monotonic_ns() - begin);
  stop = true;
  workers.clear();
  failure.rethrow();
  return {.per_second = static_cast<double>(done) * 1e9 / took, .calls = calls + late_calls};
}

void for_each_parallel(int count, int threads, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  first_failure failure;
  std::vector<std::jthread> workers;
  for (int t = 0; t < std::min(threads, count); ++t) {
    workers.emplace_back([&] {
      try {
        for (int i = next++; i < count && !failure.failed(); i = next++) work(i);
      } catch (...) {
        failure.capture();
      }
    });
  }
  workers.clear();
  failure.rethrow();
}

void use_small_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace rowlock::bench
