#include "row.hpp"

#include "checks.hpp"
#include "facts.hpp"
#include "ledger.hpp"
#include "step.hpp"
#include "support/history_recorder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace rowlock::test {

namespace {

constexpr std::size_t workers = 4;

std::string milliseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::round<std::chrono::milliseconds>(time).count()) + " ms";
}

void strike_again_and_again(scene& now, const fault& what, const row_settings& settings,
                            const load_settings& load, row_result& made) {
  now.workers.until_all_work(0);
  const auto end = std::chrono::steady_clock::now() + settings.time;
  do {
    pause(now.any(20ms, 200ms));
    const auto since = what.strike(now);
    ++made.times;
    bool was_slow = false;
    const auto last = now.workers.until_all_work(since, [&](const std::string& name) {
      was_slow = true;
      std::cerr << what.name << " on " << now.where.database() << ", time " << made.times
                << ": no work yet under " << name << '\n'
                << facts_of(now.where, load);
    });
    made.recoveries.emplace_back(last.at - since);
    if (was_slow) {
      std::cerr << "  after " << milliseconds(made.recoveries.back()) << " work went on under " << last.name
                << '\n';
    }
    now.workers.refill();
    if (what.mend) what.mend(now);
  } while (std::chrono::steady_clock::now() < end);
}

// Describes a process of the server that ended unasked. PostgreSQL then restarts, and clients see only lost
// connections.
std::string crash_in(const std::string& log) {
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("was terminated by signal") != std::string::npos) return line;
  }
  return {};
}

}  // namespace

row_result make_row(site& where, const fault& what, const row_settings& settings) {
  row_result made;
  made.fault = what.name;
  made.database = where.database();

  const temporary_folder of_row;
  load_settings load;
  if (where.has() == equipment::pooler) load.listen_url = where.url();
  load.row = what.name;
  load.folder = of_row.path().string();
  if (!settings.keep.empty()) {
    load.folder = settings.keep + '/' + what.name + '-' + where.database();
    // The histories of two runs in one folder would be taken for one.
    if (!std::filesystem::create_directories(load.folder)) throw std::runtime_error(load.folder + " exists");
  }
  load.ttl = settings.ttl;
  load.seed = settings.seed * 1'000;
  load.fault = settings.planted_fault;
  std::mt19937 random{static_cast<unsigned>(settings.seed)};

  try {
    begin_step("make the ledger of " + load.row);
    {
      const auto session = where.session();
      ledger{*session, load.ledger_prefix()}.create(load.mutexes());
    }
    crowd all{load, where.places(what.is_proxied), workers};
    scene now{where, all, random, settings.ttl};
    try {
      strike_again_and_again(now, what, settings, load, made);
      all.halt();
    } catch (const interrupted&) {
      throw;
    } catch (const std::exception& failure) {
      made.violations.push_back(failure.what());
      // While the site stands still, nothing would answer.
      where.go_on();
      all.abandon();
    }
    made.operations = all.told().count("worked");
    made.losses = all.told().count("lost");
    made.refused = all.told().count("refused");
    const auto found = violations_of(where, load, all.told(), what);
    made.violations.insert(made.violations.end(), found.begin(), found.end());
    until_nothing_is_left(where);
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& failure) {
    made.violations.push_back(failure.what());
  }
  // Other faults end processes of the server themselves, or a full disk ends them.
  if (where.has() == equipment::clock) {
    const auto crash = crash_in(where.server_log());
    if (!crash.empty()) made.violations.push_back("the server crashed by itself: " + crash);
  }
  if (!settings.keep.empty()) std::ofstream{load.folder + "/server.log"} << where.server_log();
  if (!made.violations.empty()) {
    std::cerr << what.name << " on " << where.database() << ": the server's log ends\n"
              << end_of_server_log(where);
  }
  return made;
}

std::string table_head() {
  return "| fault | database | times | operations | lost holds | refused writes | violations "
         "| recovery: median | longest |\n"
         "|---|---|---|---|---|---|---|---|---|\n";
}

std::string to_text(const row_result& row) {
  auto sorted = row.recoveries;
  std::ranges::sort(sorted);
  std::ostringstream text;
  text << "| " << row.fault << " | " << row.database << " | " << row.times << " | " << row.operations << " | "
       << row.losses << " | " << row.refused << " | " << row.violations.size() << " | "
       << (sorted.empty() ? "–" : milliseconds(sorted[sorted.size() / 2])) << " | "
       << (sorted.empty() ? "–" : milliseconds(sorted.back())) << " |\n";
  return text.str();
}

}  // namespace rowlock::test
