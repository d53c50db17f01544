// Calls options::log and options::on_event on a thread of their own, so that no renewal and no notification of a loss
// waits for them.
#pragma once

#include "model/call_queue.hpp"

#include <rowlock/client.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rowlock::client_layer {

// Thread-safe.
class log_writer {
 public:
  using function = std::function<void(log_level, std::string_view)>;
  using event_function = std::function<void(const hold_event&)>;

  explicit log_writer(function write, event_function tell = {})
      : write_(std::move(write)), tell_(std::move(tell)) {}

  bool is_silent() const noexcept { return !write_; }
  bool tells_events() const noexcept { return static_cast<bool>(tell_); }

  // Before start() the caller's thread writes the line, later run() does. Lines are dropped after stop(), and
  // while too many wait; in the latter case an extra line says how many.
  void write(log_level level, std::string line) noexcept;
  // run() passes the event on, behind all lines and events that came before it. Events are dropped as lines are. If
  // memory runs out, nothing has happened. The caller may have locked a mutex.
  void tell(hold_event event);
  // How many were dropped because too many lines and events waited, or because there was no memory.
  std::uint64_t events_left_out() const noexcept { return events_left_out_.load(); }
  void leave_out_event() noexcept { ++events_left_out_; }

  void start();         // run() follows
  void run() noexcept;  // the thread's body: until stop(), and then until all lines and events are passed on
  void stop();
  // Nothing more is passed on, except the line or event that is being passed on now.
  void drop();

 private:
  struct line {
    log_level level;
    std::string text;
  };
  struct left_out {
    std::size_t lines = 0;
    std::size_t events = 0;
  };
  struct entry {
    std::variant<line, hold_event> what;
    left_out behind{};
  };
  struct entries : model::call_list<entry> {
    left_out last{};  // of those that came after all in the list

    entry pop() noexcept;
  };

  void put(std::variant<line, hold_event> what);
  void call(log_level level, std::string_view text) const noexcept;
  void call(const hold_event& event) const noexcept;
  void call_about(std::size_t count, std::string_view what) const noexcept;

  function write_;
  event_function tell_;
  std::atomic<std::uint64_t> events_left_out_{0};
  enum class state { direct, queued, stopped };
  std::atomic<state> state_{state::direct};
  model::call_queue<entries> calls_;
};

}  // namespace rowlock::client_layer
