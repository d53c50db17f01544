// Calls options::log on a thread of its own, so that no renewal and no notification of a loss waits for it.
#pragma once

#include "model/annotated_mutex.hpp"

#include <rowlock/options.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class log_writer {
 public:
  using function = std::function<void(log_level, std::string_view)>;

  explicit log_writer(function write) : write_(std::move(write)) {}

  bool is_silent() const noexcept { return !write_; }

  // Before start() the caller's thread writes the line, later run() does. Dropped after stop(), and while too
  // many lines wait; an extra line then says how many were dropped.
  void write(log_level level, std::string line) noexcept;

  void start();         // run() follows
  void run() noexcept;  // the thread's body: until stop(), and then until all lines are written
  void stop();
  // Nothing more is written, except the line that is being written now.
  void drop();

 private:
  using line = std::pair<log_level, std::string>;

  void call(log_level level, std::string_view text) const noexcept;
  void call_about(std::size_t left_out) const noexcept;

  function write_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::deque<line> lines_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t left_out_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  enum class state { direct, running, stopped } state_ ROWLOCK_GUARDED_BY(mutex_) = state::direct;
};

}  // namespace rowlock::client_layer
