#include "client/base/time_source.hpp"

#include <ctime>

namespace rowlock::client_layer {

namespace {

class system_time_source final : public time_source {
 public:
  instant now() const noexcept override { return boot_clock::now(); }

  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  instant then) override {
    const auto left = then - now();
    if (left <= std::chrono::nanoseconds{0}) return;
    changed.wait_for(lock, std::min<std::chrono::nanoseconds>(left, std::chrono::hours{1}));
  }

  std::chrono::nanoseconds patience(std::chrono::nanoseconds wish) const noexcept override { return wish; }
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
