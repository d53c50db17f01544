// What a thread sleeps on until another thread wakes it, instead of a condition variable: glibc marks a mutex that a
// woken thread locks again as contended, and unlocking such a mutex is a system call. A wait_word leaves the mutex beside
// it alone, and wake-ups that nobody waits for cost no system call.
//
//   for (;;) {
//     const auto seen = word.seen();
//     lock the mutex, and return if what the caller waits for is there
//     unlock it, then word.wait(seen)
//   }
#pragma once

#include <rowlock/config.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace rowlock::client_layer {

// Thread-safe.
class wait_word {
 public:
  wait_word() = default;
  wait_word(const wait_word&) = delete;
  wait_word& operator=(const wait_word&) = delete;

  // Call it before looking at what the caller waits for, so that no later wake-up is missed.
  std::uint32_t seen() const noexcept { return word_.load(std::memory_order_acquire); }
  // Waits for a wake-up since seen() returned that value, for at most that long; may return early.
  void wait(std::uint32_t seen, std::optional<std::chrono::nanoseconds> at_most = {}) noexcept;
  // Call them after what the sleepers wait for has changed.
  void wake_one() noexcept { wake(1); }
  void wake_all() noexcept;

 private:
  void wake(int at_most) noexcept;

  std::atomic<std::uint32_t> word_{0};  // counts the wake-ups
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace rowlock::client_layer
