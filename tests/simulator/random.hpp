// A stream of numbers that a seed decides. Each use has its own stream, so that leaving out one part of a story changes
// the others as little as possible.
#pragma once

#include <cstdint>

namespace rowlock::simulator {

class random_stream {
 public:
  explicit random_stream(std::uint64_t seed, std::uint64_t use = 0)
      : state_(seed * 0x9E3779B97F4A7C15U + use) {
    next();
  }

  // splitmix64
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // 0 to limit - 1.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(last - first + 1)));
  }
  bool one_in(std::uint64_t many) { return below(many) == 0; }
  bool percent(int chance) { return static_cast<int>(below(100)) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace rowlock::simulator
