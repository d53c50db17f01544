// Clocks, medians and threads for the scenarios.
#pragma once

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

struct repeated {
  double per_second = 0;    // counts the calls that were completed within the time
  std::uint64_t calls = 0;  // all, also those that were completed later
};

// Runs work(i) repeatedly in `threads` threads for `slice`, and until one call is completed. The first exception of a
// thread ends the measurement and is thrown.
repeated repeat_calls(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& work);

// Calls work(i) once for each i below count, from `threads` threads. Throws the first exception.
void for_each_parallel(int count, int threads, const std::function<void(int)>& work);

// Gives threads that are made from now on small stacks, so that any machine has memory for a thousand waiting threads.
void use_small_stacks();

}  // namespace rowlock::bench
