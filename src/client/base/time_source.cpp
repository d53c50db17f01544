#include "client/base/time_source.hpp"

#include <ctime>

namespace rowlock::client_layer {

namespace {

class system_time_source final : public time_source {
 public:
  instant now() const noexcept override { return boot_clock::now(); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  instant then) override {
    const auto left = time_left(then);
    if (left > std::chrono::nanoseconds{0}) changed.wait_for(lock, left);
  }
  void wait_until(wait_word& changed, std::uint32_t seen, instant then) override {
    changed.wait(seen, time_left(then));
  }

  std::chrono::nanoseconds patience(std::chrono::nanoseconds wish) const noexcept override { return wish; }

 private:
  // At most two seconds: the waits' own clock stands still while the machine sleeps, so a wait may end that much late
  // after a sleep.
  std::chrono::nanoseconds time_left(instant then) const {
    return std::min<std::chrono::nanoseconds>(then - now(), std::chrono::seconds{2});
  }
};

}  // namespace

boot_clock::time_point boot_clock::now() noexcept {
  timespec reading{};
  ::clock_gettime(CLOCK_BOOTTIME, &reading);
  return time_point{std::chrono::seconds{reading.tv_sec} + std::chrono::nanoseconds{reading.tv_nsec}};
}

time_source& system_time() {
  static system_time_source source;
  return source;
}

}  // namespace rowlock::client_layer
