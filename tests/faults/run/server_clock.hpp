// The clock of servers that are started while a server_clock::preload lives: the system's clock, shifted by whole
// seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::test {

class server_clock {
 public:
  // Makes `file`, which every user may read. The clock begins at the system's. Throws std::runtime_error.
  explicit server_clock(const std::string& file);
  ~server_clock();
  server_clock(const server_clock&) = delete;
  server_clock& operator=(const server_clock&) = delete;

  // Sets how far the clock is ahead, in one step, which the servers see at once. Negative: behind.
  void set_ahead(std::chrono::seconds by) noexcept { ahead_->store(by.count()); }
  std::chrono::seconds ahead() const noexcept { return std::chrono::seconds{ahead_->load()}; }

  class preload {
   public:
    explicit preload(const server_clock& clock);
    ~preload();
    preload(const preload&) = delete;
    preload& operator=(const preload&) = delete;
  };

 private:
  const std::string file_;
  std::atomic<std::int64_t>* ahead_ = nullptr;  // mapped
};

}  // namespace rowlock::test
