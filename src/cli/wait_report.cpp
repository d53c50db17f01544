#include "cli/wait_report.hpp"

#include "cli/duration.hpp"
#include "cli/holder_text.hpp"
#include "cli/pause.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// When the next line is due: after 1 s, 10 s, 30 s, 1 min, and then after twice the time each, but at least
// once an hour.
clock::duration after(clock::duration said) {
  if (said < 1s) return 1s;
  if (said < 10s) return 10s;
  if (said < 30s) return 30s;
  if (said < 1min) return 1min;
  return said + std::min<clock::duration>(said, 1h);
}

// In whole seconds, if it is longer than that.
std::string rough(std::chrono::milliseconds length) {
  return format_duration(length < 1s ? length : std::chrono::floor<std::chrono::seconds>(length));
}

}  // namespace

std::string holders_text(const std::optional<lock_info>& lock) {
  if (!lock || lock->holders.empty()) return {};
  const auto& first = lock->holders.front();
  const auto others = lock->holders.size() - 1;
  const auto more = others == 0 ? "" : fmt::format(" and {} more", others);
  if (rests(first)) return "nobody: it rests for " + rough(first.expires_in) + more;
  return fmt::format("{}{} since {} ({})", holder_text(first), more, time_text(-first.held_for),
                     rough(first.held_for));
}

std::string who_keeps(const context& global, const client& db, const std::string& name) {
  if (global.quiet) return {};
  try {
    const auto lock = admin{db}.show(name);
    if (const auto holders = holders_text(lock); !holders.empty()) return "; held by " + holders;
    if (lock && lock->waiters > 0) return fmt::format("; {} waiting", lock->waiters);
    return {};
  } catch (const error&) {
    return {};  // the report only explains the wait
  }
}

wait_report::wait_report(const context& global, client db, std::string name)
    : global_{global}, db_{std::move(db)}, name_{std::move(name)} {
  if (global_.quiet) return;
  try {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  } catch (const std::system_error& failure) {
    global_.detail(fmt::format("cannot report on the wait: {}", failure.what()));
  }
}

void wait_report::run(const std::stop_token& stop) const {
  for (auto due = after(0s);; due = after(due)) {
    pause_until(began_ + due, stop);
    if (stop.stop_requested()) return;
    const auto keeper = who_keeps(global_, db_, name_);
    if (stop.stop_requested()) return;
    global_.note(fmt::format("waiting for '{}', for {} so far{}", name_, rough(waited()), keeper));
  }
}

std::chrono::milliseconds wait_report::waited() const {
  return std::chrono::floor<std::chrono::milliseconds>(clock::now() - began_);
}

void wait_report::tell_end(fencing_token token) const {
  if (token == fencing_token{}) {
    global_.detail(fmt::format("gave up '{}' after {}", name_, rough(waited())));
  } else {
    global_.detail(
        fmt::format("acquired '{}' with token {} after {}", name_, token.value(), rough(waited())));
  }
}

}  // namespace rowlock::cli
