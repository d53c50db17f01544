// How long to wait before the next try: doubling, capped, and jittered so that rivals do not march in step.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace rowlock::client_layer {

class backoff {
 public:
  constexpr backoff(std::chrono::microseconds first, std::chrono::microseconds cap)
      : first_(first), cap_(cap) {}

  // Between half of and the whole of first * 2^tries, at most the cap.
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

// A row that somebody has locked: library transactions last about a millisecond, guarded ones as long as they
// like.
inline backoff row_probe() {
  return {std::chrono::microseconds{200}, std::chrono::milliseconds{50}};
}

// What failed, and comes again: it may have been a moment's conflict, or it may be refused for long.
inline backoff failure_pause() {
  return {std::chrono::milliseconds{1}, std::chrono::seconds{1}};
}

// A lock that cannot be given while a guarded transaction of a dead holder's keeps its row.
inline backoff guarded_pause() {
  return {std::chrono::milliseconds{2}, std::chrono::milliseconds{500}};
}

// A sweep that finds the row locked, or may not free it yet. Nobody waits for it.
inline backoff sweep_pause() {
  return {std::chrono::milliseconds{1}, std::chrono::seconds{5}};
}

// A database that must be asked for wakeups: soon after something has happened, for more may follow, and then
// seldom enough to cost nothing. The cap bounds how late a hand-over between processes is heard of.
inline backoff wakeup_poll_pause() {
  return {std::chrono::milliseconds{2}, std::chrono::milliseconds{140}};
}

// Whether those who were asked for a lock have given it up.
inline backoff request_poll() {
  return {std::chrono::milliseconds{10}, std::chrono::milliseconds{250}};
}

// A database that cannot be reached.
inline backoff reconnect_pause() {
  return {std::chrono::milliseconds{20}, std::chrono::seconds{1}};
}

}  // namespace rowlock::client_layer
