// The pause before the next try: it doubles up to a cap, with jitter so that rivals do not retry in step.
#pragma once

#include <rowlock/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace rowlock::client_layer {

class backoff {
 public:
  constexpr backoff(std::chrono::microseconds first, std::chrono::microseconds cap)
      : first_(first), cap_(cap) {}

  // Between half and all of first * 2^tries, or of the cap if that is less.
  std::chrono::microseconds next() {
    const auto whole = std::min<std::chrono::microseconds>(cap_, first_ * (1LL << std::min(tries_, 20)));
    ++tries_;
    thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<std::chrono::microseconds::rep> spread{whole.count() / 2, whole.count()};
    return std::chrono::microseconds{spread(random)};
  }

  void reset() { tries_ = 0; }

 private:
  std::chrono::microseconds first_;
  std::chrono::microseconds cap_;
  int tries_ = 0;
};

// For a row that somebody has locked: rowlock's own transactions last about a millisecond, guarded ones as
// long as the user likes.
inline backoff row_probe() {
  return {std::chrono::microseconds{200}, std::chrono::milliseconds{50}};
}

// For a request that failed: a brief conflict, or a refusal that may last.
inline backoff failure_pause() {
  return {std::chrono::milliseconds{1}, std::chrono::seconds{1}};
}

// For a lock that cannot be granted while a guarded transaction of a dead holder keeps its row.
inline backoff guarded_pause() {
  return {std::chrono::milliseconds{2}, std::chrono::milliseconds{500}};
}

// For a sweep that finds the row locked, or may not free it yet. Nobody waits for it.
inline backoff sweep_pause() {
  return {std::chrono::milliseconds{1}, std::chrono::seconds{5}};
}

// For a database that must be polled for wake-ups: soon after something has happened, because more may follow, then
// rarely enough to cost nothing. The first pause is about a durable commit, so that a hand-over between two processes
// that do little else is not late by more; the cap limits how late any other is.
inline backoff wakeup_poll_pause() {
  return {std::chrono::microseconds{400}, std::chrono::milliseconds{140}};
}

// For a caller that checks whether holders have followed its release request.
inline backoff request_poll() {
  return {std::chrono::milliseconds{10}, std::chrono::milliseconds{250}};
}

// For a database that cannot be reached.
inline backoff reconnect_pause() {
  return {std::chrono::milliseconds{20}, std::chrono::seconds{1}};
}

}  // namespace rowlock::client_layer
