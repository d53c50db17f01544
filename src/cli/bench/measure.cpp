#include "cli/bench/measure.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>

namespace rowlock::cli::bench {

namespace {

// Keeps the first exception of many threads.
class first_failure {
 public:
  void capture() {
    std::scoped_lock lock{mutex_};
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
  bool failed() const { return failed_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

}  // namespace

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

double calls_per_second(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& work) {
  std::latch ready{threads + 1};
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> calls = 0;
  first_failure failure;
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      ready.arrive_and_wait();
      try {
        while (!stop && !failure.failed()) {
          work(i);
          if (!stop) calls.fetch_add(1, std::memory_order_relaxed);
        }
      } catch (...) {
        failure.capture();
      }
    });
  }
  ready.arrive_and_wait();
  std::int64_t begin = monotonic_ns();
  std::int64_t end = begin + slice.count();
  while (monotonic_ns() < end && !failure.failed()) {
    std::int64_t left = end - monotonic_ns();
    std::this_thread::sleep_for(
        std::min(std::chrono::nanoseconds{left}, std::chrono::nanoseconds{50'000'000}));
  }
  auto done = static_cast<double>(calls.load());
  auto took = static_cast<double>(monotonic_ns() - begin);
  stop = true;
  workers.clear();
  failure.rethrow();
  return done * 1e9 / took;
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

}  // namespace rowlock::cli::bench
