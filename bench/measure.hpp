// Clocks, medians and threads for the scenarios.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace rowlock::bench {

// CLOCK_MONOTONIC, which all processes of a machine share.
std::int64_t monotonic_ns();

// The processor time that all threads of this process have used.
std::chrono::nanoseconds cpu_time();

// The value below which `fraction` of the values lie. Requires: values is not empty.
double quantile(std::vector<double> values, double fraction);
double median(std::vector<double> values);

// Keeps the first exception of many threads.
class first_failure {
 public:
  void capture();  // in a catch block
  bool failed() const { return failed_; }
  void rethrow() const;  // does nothing if there was none. Requires: nobody captures any more.

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

// Measures both sides in each round. They take turns to be the first, which may be an advantage or a disadvantage.
void in_turn(int rounds, const std::function<void()>& rowlock, const std::function<void()>& floor);

// Throws unless the release says `released`: otherwise the measurement would be invalid.
void require_released(rowlock::release_result result);

// Runs work(i) repeatedly in `threads` threads for `slice`, and returns how many calls per second were
// completed. The first exception of a thread ends the measurement and is thrown.
double calls_per_second(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& work);

// Rowlock's side of a comparison: pairs of acquire and release, and the statements that the clients sent for them.
class pair_rates {
 public:
  explicit pair_rates(std::vector<rowlock::client> clients) : clients_(std::move(clients)) {}

  // Measures once more, as calls_per_second. Nothing else may run on the clients meanwhile.
  void measure(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& pair);

  double per_second() const { return median(rates_); }
  // By the statistics of all clients together: an edit counts as one statement, however many round trips it takes.
  double statements_per_pair() const;

 private:
  std::uint64_t statements() const;

  std::vector<rowlock::client> clients_;
  std::vector<double> rates_;
  std::uint64_t statements_ = 0;
  std::atomic<std::uint64_t> pairs_ = 0;
};

// Calls work(i) once for each i below count, from `threads` threads. Throws the first exception.
void for_each_parallel(int count, int threads, const std::function<void(int)>& work);

// Gives threads that are made from now on small stacks, so that any machine has memory for a thousand waiting threads.
void use_small_stacks();

}  // namespace rowlock::bench
