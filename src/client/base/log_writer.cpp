#include "client/base/log_writer.hpp"

#include <fmt/format.h>

namespace rowlock::client_layer {

namespace {

constexpr std::size_t lines_at_most = 10'000;

}  // namespace

void log_writer::write(log_level level, std::string text) noexcept {
  const auto now = state_.load();
  if (is_silent() || now == state::stopped) return;
  if (now == state::direct) return call(level, text);
  try {
    calls_.put([&](lines& waiting) {
      if (waiting.all.size() >= lines_at_most) {
        ++waiting.left_out;
      } else {
        waiting.all.push_back({level, std::move(text)});
      }
    });
  } catch (...) {
    // There is no memory for the line.
  }
}

void log_writer::call(log_level level, std::string_view text) const noexcept {
  try {
    write_(level, text);
  } catch (...) {
    // A failing log must not fail the lock.
  }
}

void log_writer::call_about(std::size_t left_out) const noexcept {
  try {
    call(log_level::warning, fmt::format("{} lines of the log were left out", left_out));
  } catch (...) {
    // There is no memory for the line.
  }
}

void log_writer::start() {
  auto before = state::direct;
  state_.compare_exchange_strong(before, state::queued);
}

log_writer::line log_writer::lines::pop() noexcept {
  auto next = call_list::pop();
  if (empty()) next.left_out_behind = std::exchange(left_out, 0);
  return next;
}

void log_writer::run() noexcept {
  calls_.run([this](const line& next) {
    call(next.level, next.text);
    if (next.left_out_behind > 0) call_about(next.left_out_behind);
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
