#include "client/base/wait_word.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace rowlock::client_layer {

namespace {

// The call whose timespec is that of the C library, also where only the latter has 64 bits for the seconds.
constexpr long futex_call() {
#ifdef SYS_futex_time64
  if (sizeof(timespec::tv_sec) > sizeof(long)) return SYS_futex_time64;
#endif
  return SYS_futex;
}

}  // namespace

// Either wake() sees this sleeper, or the kernel sees the word that wake() has changed, and does not let it sleep: both
// change their own atomic before they read the other one.
void wait_word::wait(std::uint32_t seen, std::optional<std::chrono::nanoseconds> at_most) noexcept {
  timespec limit{};
  if (at_most) {
    if (*at_most <= std::chrono::nanoseconds{0}) return;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*at_most);
    limit.tv_sec = static_cast<decltype(limit.tv_sec)>(seconds.count());
    limit.tv_nsec = static_cast<decltype(limit.tv_nsec)>((*at_most - seconds).count());
  }
  sleepers_.fetch_add(1);
  ::syscall(futex_call(), &word_, FUTEX_WAIT_PRIVATE, seen, at_most ? &limit : nullptr, nullptr, 0);
  sleepers_.fetch_sub(1);
}

void wait_word::wake_all() noexcept {
  wake(INT_MAX);
}

void wait_word::wake(int at_most) noexcept {
  word_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  ::syscall(futex_call(), &word_, FUTEX_WAKE_PRIVATE, at_most, nullptr, nullptr, 0);
}

}  // namespace rowlock::client_layer
