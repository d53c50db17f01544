// What all parts of a client share: settings, time, counters, ghosts and the log.
#pragma once

#include "client/base/ghosts.hpp"
#include "client/base/log_writer.hpp"
#include "client/base/process_identity.hpp"
#include "client/base/recorded_names.hpp"
#include "client/base/statistics.hpp"
#include "client/base/stoppable_sleep.hpp"
#include "client/base/time_source.hpp"
#include "client/base/user_code.hpp"
#include "model/fork_count.hpp"
#include "model/ids.hpp"

#include <rowlock/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

// So that callers can pass ids to client_environment::log(), which formats them where a failure does no harm. From
// version 10 on fmt uses format_as() instead.
#if FMT_VERSION < 100000
template <class Tag>
struct fmt::formatter<rowlock::model::id<Tag>> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const rowlock::model::id<Tag>& shown, Context& into) const {
    return fmt::formatter<std::string_view>::format(shown.to_string(), into);
  }
};
#endif

namespace rowlock::client_layer {

struct client_environment {
  options settings;
  time_source& time;
  process_identity process = process_identity::of_this_process(settings.application, settings.command);
  const std::uint64_t fork_count = model::fork_count();  // of the process that made the client
  counters count{};
  mutable stoppable_sleep pauses{time};
  client_layer::ghosts ghosts{};
  mutable user_code user_calls{};
  mutable log_writer writer{guarded_log(), guarded_events()};
  std::atomic<std::int64_t> stored_skew_ms{0};  // the skew that the database stores, as read last
  recorded_names recorded{};

  // The skew that applies: the larger of the option and the stored value.
  std::chrono::milliseconds skew() const {
    return std::max<std::chrono::milliseconds>(settings.skew,
                                               std::chrono::milliseconds{stored_skew_ms.load()});
  }

  template <class... Args>
  void log(log_level level, fmt::format_string<Args...> format, Args&&... args) const noexcept {
    if (writer.is_silent()) return;
    try {
      writer.write(level, fmt::format(format, std::forward<Args>(args)...));
    } catch (...) {
      // A line that cannot be formatted must not fail the lock.
    }
  }

  // make() returns the event; it is called only if somebody wants it. Runs no user code.
  template <class Make>
  void tell(Make make) const noexcept {
    if (!writer.tells_events()) return;
    try {
      writer.tell(make());
    } catch (...) {
      writer.leave_out_event();  // there is no memory for it
    }
  }

  statistics stats() const {
    auto all = count.read();
    all.events_left_out = writer.events_left_out();
    return all;
  }

  log_writer::function guarded_log() const {
    if (!settings.log) return {};
    return [this](log_level level, std::string_view line) {
      user_calls.run([&] { settings.log(level, line); });
    };
  }
  log_writer::event_function guarded_events() const {
    if (!settings.on_event) return {};
    return [this](const hold_event& event) { user_calls.run([&] { settings.on_event(event); }); };
  }

  // "As long as a call may take": how long a call waits for the database, also if it does not wait for a
  // holder.
  std::chrono::nanoseconds longest_call() const {
    return settings.connect_timeout + 2 * settings.statement_timeout;
  }

  // The most holds that a client may have, so that all holders can be notified of a loss within the margin: 4
  // microseconds for each, about three times what a notification takes on two busy cores
  // (`rowlock-bench lost`).
  std::size_t holds_at_most() const {
    constexpr std::size_t in_any_case = 1000;
    return std::max(in_any_case,
                    static_cast<std::size_t>(margin(settings.ttl) / std::chrono::microseconds{4}));
  }

  // How long before the database's expiry a lease of that ttl counts as lost here.
  std::chrono::nanoseconds margin(std::chrono::nanoseconds ttl) const {
    return std::min<std::chrono::nanoseconds>(settings.margin, ttl / 4) + ttl / 1000;
  }
};

}  // namespace rowlock::client_layer
