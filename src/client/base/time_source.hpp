// Time as the client layer sees it. Deadlines are readings of CLOCK_BOOTTIME, which goes on while the machine
// sleeps and which nobody sets. Tests use a virtual clock instead.
#pragma once

#include <rowlock/config.hpp>

#include "client/base/wait_word.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace rowlock::client_layer {

struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
using instant = boot_clock::time_point;

// now + length. If that overflows, the end of the clock, which no wait reaches.
inline instant later(instant now, std::chrono::nanoseconds length) {
  return length > instant::max() - now ? instant::max() : now + length;
}

class time_source {
 public:
  virtual ~time_source() = default;
  virtual instant now() const noexcept = 0;
  // Waits for a notification or until then; may wake up spuriously.
  virtual void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                          instant then) = 0;
  // The same for a wait_word: seen as in wait_word::wait().
  virtual void wait_until(wait_word& changed, std::uint32_t seen, instant then) = 0;
  // How long in real time a wait of length `wish` may take if this source cannot end it.
  virtual std::chrono::nanoseconds patience(std::chrono::nanoseconds wish) const noexcept = 0;
};

time_source& system_time();

}  // namespace rowlock::client_layer
