// For loads whose threads must not end with an exception.
#pragma once

#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace rowlock::test {

// Tries to acquire the lock. Where the machine pauses, a row may be locked for so long that the try gives up.
inline hold try_once(mutex& wanted) {
  const auto begun = std::chrono::steady_clock::now();
  try {
    return wanted.try_acquire();
  } catch (const error& refused) {
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_TRUE(refused.code() == errc::contention && took >= std::chrono::milliseconds{800})
        << refused.what();
    return {};
  }
}

}  // namespace rowlock::test
