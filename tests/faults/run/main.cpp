// rowlock_faults breaks real servers under load; scripts/faults starts it. See docs/correctness.md, "Real faults".
#include "row.hpp"
#include "step.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <optional>

namespace {

using namespace rowlock::test;

// How many violations of one row are described.
constexpr std::size_t most_described = 5;

struct job {
  std::string database;
  fault what;
};

std::vector<job> chosen(const std::vector<std::string>& databases, const std::vector<std::string>& names,
                        bool only_plain) {
  std::vector<job> jobs;
  for (const auto& database : databases) {
    for (const auto& one : all_faults()) {
      if (!one.is_for(database)) continue;
      if (only_plain && one.needs != equipment::nothing) continue;
      if (!names.empty() && std::ranges::find(names, one.name) == names.end()) continue;
      if (is_available(one.needs)) {
        jobs.push_back({database, one});
      } else {
        std::cerr << one.name << " on " << database << " is left out: it needs " << missing_for(one.needs)
                  << '\n';
      }
    }
  }
  return jobs;
}

void list() {
  for (const auto& one : all_faults()) {
    std::cout << one.name << " (";
    for (std::size_t i = 0; i < one.databases.size(); ++i) std::cout << (i ? ", " : "") << one.databases[i];
    std::cout << "): " << one.what << '\n';
  }
}

std::string today() {
  const auto now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%F", std::gmtime(&now));
  return text;
}

// Runs the jobs, and returns the number of violations.
std::size_t make_matrix(const std::vector<job>& jobs, const row_settings& settings, std::int64_t seconds) {
  std::cout << "Made on " << today() << " by `scripts/faults --seed " << settings.seed << " --seconds "
            << seconds << "`.\n\n"
            << table_head() << std::flush;
  std::optional<site> where;
  std::size_t violations = 0;
  for (const auto& [database, what] : jobs) {
    // After a violation the state of the server is unknown, so the next job gets a new site.
    if (!where || where->database() != database || where->has() != what.needs) {
      where.reset();
      where.emplace(database, what.needs);
    }
    auto of_row = settings;
    // A cluster takes some seconds to agree on who has left it.
    if (what.needs == equipment::cluster) of_row.ttl = std::chrono::seconds{6};
    const auto row = make_row(*where, what, of_row);
    std::cout << to_text(row) << std::flush;
    for (std::size_t i = 0; i < row.violations.size(); ++i) {
      if (i == most_described) std::cerr << row.violations.size() - i << " more\n";
      if (i < most_described)
        std::cerr << what.name << " on " << database << ": " << row.violations[i] << '\n';
    }
    violations += row.violations.size();
    if (!row.violations.empty()) where.reset();
  }
  return violations;
}

}  // namespace

int main(int count, char** words) {
  constexpr int usage = 64;
  if (count > 1 && std::string_view{words[1]} == worker_word) {
    return run_load(load_of({words + 1, words + count}));
  }

  CLI::App line{"Breaks real servers under load and prints what came of it", "rowlock_faults"};
  line.footer("Exit codes: 0 no violation, 1 violations or an interruption, 64 usage.");
  row_settings settings;
  std::int64_t seconds = 600;
  std::vector<std::string> databases;
  std::vector<std::string> names;
  std::string planted_word = to_string(planted::nothing);
  bool only_plain = false;
  bool lists = false;
  line.add_option("--seed", settings.seed, "Decides the moments, the victims and the load")
      ->capture_default_str();
  line.add_option("--seconds", seconds, "For all faults together; each happens at least once")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  line.add_option("--database", databases, "Only this one; may be repeated")
      ->check(CLI::IsMember({"postgres", "mariadb", "mysql", "galera", "sqlite"}));
  std::vector<std::string> known;
  for (const auto& one : all_faults()) known.push_back(one.name);
  line.add_option("--fault", names, "Only this one; may be repeated")->check(CLI::IsMember(known));
  line.add_flag("--plain", only_plain,
                "Only faults that need nothing but one server: no standby, clock, disk, pooler or cluster");
  line.add_option("--keep", settings.keep, "Keep the workers' histories and logs in this folder");
  line.add_option("--planted", planted_word, "What the workers do wrong, to show that it is noticed")
      ->check(CLI::IsMember({"nothing", "unguarded", "deaf"}));
  line.add_flag("--list", lists, "Say what faults there are, and end");
  try {
    line.parse(count, words);
  } catch (const CLI::ParseError& problem) {
    return line.exit(problem) == 0 ? 0 : usage;
  }
  if (lists) return list(), 0;
  if (databases.empty()) databases = {"postgres", "mariadb", "mysql", "galera", "sqlite"};
  if (planted_word == "unguarded") settings.planted_fault = planted::unguarded;
  if (planted_word == "deaf") settings.planted_fault = planted::deaf;

  const auto jobs = chosen(databases, names, only_plain);
  if (jobs.empty()) {
    std::cerr << "rowlock_faults: none of these faults is for one of these databases; see --list\n";
    return usage;
  }
  settings.time = std::chrono::seconds{seconds} / static_cast<std::int64_t>(jobs.size());
  end_on_signals(std::chrono::seconds{180});
  try {
    const auto violations = make_matrix(jobs, settings, seconds);
    std::cout << "\n" << violations << " violations\n";
    return violations == 0 ? 0 : 1;
  } catch (const std::exception& failure) {
    std::cerr << "rowlock_faults: " << failure.what() << '\n';
    return 1;
  }
}
