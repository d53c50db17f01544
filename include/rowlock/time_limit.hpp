// Durations of any std::chrono type: how long a call may wait (time_limit), and how long something lasts (time_span).
#pragma once

#include <rowlock/config.hpp>

#include <chrono>
#include <ratio>
#include <type_traits>

ROWLOCK_BEGIN_NAMESPACE

namespace detail {

// Rounded up. A duration too long for To becomes the longest one that To can count.
template <class To, class Rep, class Period>
constexpr To rounded_up(const std::chrono::duration<Rep, Period>& length) noexcept {
  constexpr long double bound = 9.2e18L;
  const std::chrono::duration<long double, typename To::period> roughly{length};
  if (!(roughly.count() < bound)) return To::max();
  if (roughly.count() <= -bound) return -To::max();
  using factor = std::ratio_divide<Period, typename To::period>;
  if constexpr (std::is_integral_v<Rep> && (factor::num == 1 || factor::den == 1)) {
    return std::chrono::ceil<To>(length);
  } else {
    return std::chrono::ceil<To>(roughly);
  }
}

}  // namespace detail

// How long a call may wait, in nanoseconds. Any duration converts to it: f(5s), f(1.5s). A value.
class time_limit {
 public:
  template <class Rep, class Period>
  constexpr time_limit(const std::chrono::duration<Rep, Period>& length) noexcept  // NOLINT: implicit
      : length_(detail::rounded_up<std::chrono::nanoseconds>(length)) {}

  // The time from now until that time, by its own clock.
  template <class Clock, class Duration>
  static time_limit until(const std::chrono::time_point<Clock, Duration>& time) noexcept {
    constexpr auto longest = std::chrono::nanoseconds::max();
    const auto then = detail::rounded_up<std::chrono::nanoseconds>(time.time_since_epoch());
    const auto now = detail::rounded_up<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
    if (then == longest || (now < now.zero() && then > longest + now)) return longest;
    if (now > now.zero() && then < -longest + now) return -longest;
    return then - now;
  }

  // Zero or less: does not wait. nanoseconds::max(): waits for ever.
  constexpr std::chrono::nanoseconds length() const noexcept { return length_; }

 private:
  std::chrono::nanoseconds length_;
};

// No limit. A duration that is too long for nanoseconds, such as hours::max(), means the same.
inline constexpr time_limit forever{std::chrono::nanoseconds::max()};

// How long something lasts, in options and in admin's calls: milliseconds to which any duration converts.
class time_span : public std::chrono::milliseconds {
 public:
  template <class Rep, class Period>
  constexpr time_span(const std::chrono::duration<Rep, Period>& length) noexcept  // NOLINT: implicit
      : std::chrono::milliseconds(detail::rounded_up<std::chrono::milliseconds>(length)) {}
};

ROWLOCK_END_NAMESPACE
