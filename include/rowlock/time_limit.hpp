// How long a call may wait: the one place where durations and points in time of every clock become a limit.
#pragma once

#include <rowlock/config.hpp>

#include <chrono>
#include <limits>
#include <ratio>
#include <type_traits>

ROWLOCK_BEGIN_NAMESPACE

// Made from any duration of std::chrono, rounded up to nanoseconds. What does not fit into those, such as
// hours::max(), is for ever. A value.
class time_limit {
 public:
  template <class Rep, class Period>
  constexpr time_limit(const std::chrono::duration<Rep, Period>& length) noexcept  // implicit: f(5s)
      : length_(rounded(length)) {}

  // Until that time of any clock, as its clock reads now.
  template <class Clock, class Duration>
  static time_limit until(const std::chrono::time_point<Clock, Duration>& time) noexcept {
    const auto then = rounded(time.time_since_epoch());
    const auto now = rounded(Clock::now().time_since_epoch());
    if (then == longest || (now < now.zero() && then > longest + now)) return longest;
    if (now > now.zero() && then < -longest + now) return -longest;
    return then - now;
  }

  // nanoseconds::max() is for ever; zero or less is no time at all.
  constexpr std::chrono::nanoseconds length() const noexcept { return length_; }

 private:
  static constexpr std::chrono::nanoseconds longest = std::chrono::nanoseconds::max();

  template <class Rep, class Period>
  static constexpr std::chrono::nanoseconds rounded(
      const std::chrono::duration<Rep, Period>& length) noexcept {
    constexpr long double bound = 9.2e18L;
    const std::chrono::duration<long double, std::nano> roughly{length};
    if (roughly.count() >= bound) return longest;
    if (roughly.count() <= -bound) return -longest;
    using in_nanoseconds = std::ratio_divide<Period, std::nano>;
    if constexpr (std::is_integral_v<Rep> && (in_nanoseconds::num == 1 || in_nanoseconds::den == 1)) {
      return std::chrono::ceil<std::chrono::nanoseconds>(length);
    } else {
      return std::chrono::ceil<std::chrono::nanoseconds>(roughly);
    }
  }

  std::chrono::nanoseconds length_;
};

ROWLOCK_END_NAMESPACE
