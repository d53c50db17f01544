// Clocks, medians and threads for the scenarios.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace rowlock::cli::bench {

// CLOCK_MONOTONIC, which all processes of a machine share.
std::int64_t monotonic_ns();

// The processor time that this process has used, all threads.
std::chrono::nanoseconds cpu_time();

// The value below which `fraction` of the values lie. Requires: values is not empty.
double quantile(std::vector<double> values, double fraction);
double median(std::vector<double> values);

// Runs work(i) over and over in `threads` threads for `slice`, and returns how many calls a second were
// completed. The first exception of a thread ends the measurement and is thrown.
double calls_per_second(int threads, std::chrono::nanoseconds slice, const std::function<void(int)>& work);

// Calls work(i) once for each i below count, from `threads` threads. Throws the first exception.
void for_each_parallel(int count, int threads, const std::function<void(int)>& work);

// Threads made from now on have small stacks: a thousand waiting threads then fit anywhere.
void use_small_stacks();

}  // namespace rowlock::cli::bench
