#include "client/base/log_writer.hpp"

#include <fmt/format.h>

namespace rowlock::client_layer {

namespace {

constexpr std::size_t entries_at_most = 10'000;

}  // namespace

void log_writer::write(log_level level, std::string text) noexcept {
  const auto now = state_.load();
  if (is_silent() || now == state::stopped) return;
  if (now == state::direct) return call(level, text);
  try {
    put(line{level, std::move(text)});
  } catch (...) {
    // There is no memory for the line.
  }
}

// Never on the caller's thread: there are no events before start().
void log_writer::tell(hold_event event) {
  if (tells_events() && state_.load() != state::stopped) put(std::move(event));
}

void log_writer::put(std::variant<line, hold_event> what) {
  calls_.put([&](entries& waiting) {
    if (waiting.all.size() < entries_at_most) {
      waiting.all.push_back({std::move(what)});
    } else if (std::holds_alternative<line>(what)) {
      ++waiting.last.lines;
    } else {
      ++waiting.last.events;
      ++events_left_out_;
    }
  });
}

void log_writer::call(log_level level, std::string_view text) const noexcept {
  try {
    write_(level, text);
  } catch (...) {
    // A failing log must not fail the lock.
  }
}

void log_writer::call(const hold_event& event) const noexcept {
  try {
    tell_(event);
  } catch (...) {
    // As for the log.
  }
}

void log_writer::call_about(std::size_t count, std::string_view what) const noexcept {
  if (count == 0 || is_silent()) return;
  try {
    call(log_level::warning, fmt::format("{}{}", count, what));
  } catch (...) {
    // There is no memory for the line.
  }
}

void log_writer::start() {
  auto before = state::direct;
  state_.compare_exchange_strong(before, state::queued);
}

log_writer::entry log_writer::entries::pop() noexcept {
  auto next = call_list::pop();
  if (empty()) next.behind = std::exchange(last, {});
  return next;
}

void log_writer::run() noexcept {
  calls_.run([this](const entry& next) {
    if (const auto* written = std::get_if<line>(&next.what)) call(written->level, written->text);
    if (const auto* told = std::get_if<hold_event>(&next.what)) call(*told);
    call_about(next.behind.lines, " lines of the log were left out");
    call_about(next.behind.events, " events were left out");
  });
}

void log_writer::stop() {
  state_ = state::stopped;
  calls_.stop();
}

void log_writer::drop() {
  state_ = state::stopped;
  calls_.drop();
}

}  // namespace rowlock::client_layer
