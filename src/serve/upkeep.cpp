#include "serve/upkeep.hpp"

#include "serve/as_error.hpp"
#include "serve/pause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto after_failure = 2s;
// Names become idle slowly, and a collection reads all of them.
constexpr std::chrono::milliseconds between_collections = 10min;

}  // namespace

upkeep::upkeep(database& db, upkeep_settings settings, std::function<void(std::string_view)> note)
    : db_{db}, settings_{std::move(settings)}, note_{std::move(note)} {
  if (settings_.is_on()) thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void upkeep::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    attempt([&] { lead_once(stop); });
    if (has_failed_) pause_until(clock::now() + after_failure, stop);
  }
}

// Runs the work. If it fails several times in a row, only the first failure is noted.
void upkeep::attempt(const std::function<void()>& work) {
  std::string problem;
  try {
    work();
  } catch (const std::exception& thrown) {
    const auto failed = as_error(thrown);
    if (failed.kind() == errc::cancelled || failed.kind() == errc::closed) return;
    problem = failed.what();
  }
  if (!problem.empty() && !has_failed_) note_(fmt::format("upkeep fails, and is tried again: {}", problem));
  has_failed_ = !problem.empty();
}

// The wait for the office does not go through database::call(), because it must not be measured as a call.
void upkeep::lead_once(const std::stop_token& stop) {
  std::optional<election> office;
  db_.call("connect", [&](const client& db) { office.emplace(db, settings_.election); });
  term leads = office->campaign({.stop = stop});
  counts_.leads = true;
  note_(fmt::format("leads '{}', and sweeps from now on", settings_.election));
  work(leads, stop);
  counts_.leads = false;
  if (!leads.valid()) note_(fmt::format("has lost '{}', and sweeps no more", settings_.election));
  leads.resign();
}

void upkeep::work(const term& leads, const std::stop_token& stop) {
  std::stop_source either;
  const std::stop_callback ends{stop, [&] { either.request_stop(); }};
  const std::stop_callback is_lost{leads.stop_token(), [&] { either.request_stop(); }};
  auto next_sweep = settings_.sweep_every > 0ms ? clock::now() : clock::time_point::max();
  auto next_collection = settings_.collect_idle ? clock::now() : clock::time_point::max();
  while (leads.valid() && !either.stop_requested()) {
    if (clock::now() >= next_sweep) {
      attempt([this] { sweep(); });
      next_sweep = clock::now() + settings_.sweep_every;
    } else if (clock::now() >= next_collection) {
      attempt([this] { collect(); });
      next_collection = clock::now() + between_collections;
    } else {
      pause_until(std::min(next_sweep, next_collection), either.get_token());
    }
  }
}

void upkeep::sweep() {
  sweep_result done;
  db_.call("sweep", [&](const client& db) { done = admin{db}.sweep(); });
  ++counts_.sweeps;
  counts_.leases += static_cast<std::uint64_t>(done.leases);
  counts_.locks += static_cast<std::uint64_t>(done.locks);
}

void upkeep::collect() {
  std::int64_t deleted = 0;
  db_.call("collect", [&](const client& db) { deleted = admin{db}.collect(*settings_.collect_idle); });
  counts_.collected += static_cast<std::uint64_t>(deleted);
}

}  // namespace rowlock::serve
