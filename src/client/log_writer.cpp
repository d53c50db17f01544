#include "client/log_writer.hpp"

#include <fmt/format.h>

namespace rowlock::client_layer {

namespace {

constexpr std::size_t lines_at_most = 10'000;

}  // namespace

void log_writer::write(log_level level, std::string text) noexcept {
  if (is_silent()) return;
  try {
    model::annotated_lock lock{mutex_};
    if (state_ == state::stopped) return;
    if (state_ == state::direct) {
      lock.unlock();
      return call(level, text);
    }
    if (lines_.size() >= lines_at_most) {
      ++left_out_;
      return;
    }
    lines_.emplace_back(level, std::move(text));
    lock.unlock();
    changed_.notify_one();
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
  const model::annotated_lock lock{mutex_};
  if (state_ == state::direct) state_ = state::running;
}

void log_writer::run() noexcept {
  model::annotated_lock lock{mutex_};
  for (;;) {
    while (state_ != state::stopped && lines_.empty()) changed_.wait(lock);
    if (lines_.empty()) return;
    const auto [level, text] = std::move(lines_.front());
    lines_.pop_front();
    const auto left_out = lines_.empty() ? std::exchange(left_out_, 0) : 0;
    lock.unlock();
    call(level, text);
    if (left_out > 0) call_about(left_out);
    lock.lock();
  }
}

void log_writer::stop() {
  {
    const model::annotated_lock lock{mutex_};
    state_ = state::stopped;
  }
  changed_.notify_one();
}

void log_writer::drop() {
  const model::annotated_lock lock{mutex_};
  state_ = state::stopped;
  lines_.clear();
}

}  // namespace rowlock::client_layer
