// What the threads of a load count.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace rowlock::test {

struct tally {
  std::atomic<std::int64_t> granted{0};
  std::atomic<std::int64_t> written{0};
  std::atomic<std::int64_t> lost{0};     // lost holds that reported their loss
  std::atomic<std::int64_t> unaware{0};  // the guard refused a hold that seemed valid: never right
  std::atomic<std::int64_t> wrong{0};    // the database showed something that it must not show
  std::atomic<std::int64_t> result_without_answer{0};  // the database gave rowlock no answer in time
  std::atomic<std::int64_t> broken{0};                 // the application's own connection broke
  std::atomic<std::int64_t> repeated{0};    // the server had rolled the application's transaction back
  std::atomic<std::int64_t> unreleased{0};  // release() returned "unknown"
  std::atomic<std::int64_t> pending{
      0};  // release() returned "pending": rivals had the row locked at each try
  std::atomic<std::int64_t> failed{0};

  void fail(const std::string& what);
  // Counts a break of the application's own connection, and keeps the first reason.
  void broke(const std::string& what);
  // "granted=… written=… …", and what failed or broke first.
  std::string report() const;

 private:
  mutable std::mutex mutex_;
  std::string what_failed_;
  std::string what_broke_;
};

}  // namespace rowlock::test
