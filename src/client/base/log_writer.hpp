// Calls options::log on a thread of its own, so that no renewal and no notification of a loss waits for it.
#pragma once

#include "model/call_queue.hpp"

#include <rowlock/options.hpp>

#include <atomic>
#include <cstddef>
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

  // Before start() the caller's thread writes the line, later run() does. Lines are dropped after stop(), and
  // while too many wait; in the latter case an extra line says how many.
  void write(log_level level, std::string line) noexcept;

  void start();         // run() follows
  void run() noexcept;  // the thread's body: until stop(), and then until all lines are written
  void stop();
  // Nothing more is written, except the line that is being written now.
  void drop();

 private:
  struct line {
    log_level level;
    std::string text;
    std::size_t left_out_behind = 0;
  };
  struct lines : model::call_list<line> {
    std::size_t left_out = 0;

    line pop() noexcept;
  };

  void call(log_level level, std::string_view text) const noexcept;
  void call_about(std::size_t left_out) const noexcept;

  function write_;
  enum class state { direct, queued, stopped };
  std::atomic<state> state_{state::direct};
  model::call_queue<lines> calls_;
};

}  // namespace rowlock::client_layer
