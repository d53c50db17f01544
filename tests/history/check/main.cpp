// rowlock-check checks histories that processes have written. See docs/correctness.md, "The history checker".
#include "excerpt.hpp"

#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>

int main(int count, char** words) {
  using namespace rowlock::history;
  constexpr int usage = 64;
  CLI::App line{"Checks histories of locks: JSON lines that processes have written", "rowlock-check"};
  line.footer("Exit codes: 0 no violation, 1 violations, 64 usage or an unreadable history.");
  std::vector<std::string> files;
  std::string picture;
  double bound = 5;
  line.add_option("FILE", files, "One or more histories of the same run")->required();
  line.add_option("--svg", picture, "Write a timeline to this file");
  line.add_option("--bound", bound, "Seconds for which a lock may be free while somebody waits")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  try {
    line.parse(count, words);
  } catch (const CLI::ParseError& problem) {
    return line.exit(problem) == 0 ? 0 : usage;
  }

  try {
    std::vector<event> events;
    for (const auto& file : files) {
      std::ifstream from{file};
      if (!from) throw bad_history("cannot read " + file);
      read_events(from, file, events);
    }
    sort_events(events);
    const auto locks = locks_of(events);
    const auto found = check(events, {std::chrono::nanoseconds{static_cast<std::int64_t>(bound * 1e9)}});
    for (const auto& broken : found) {
      print(broken, events, locks.at(broken.name), std::cout);
      std::cout << '\n';
    }
    if (!picture.empty()) {
      std::ofstream to{picture};
      draw(events, locks, found, to);
      to.close();
      if (!to) throw bad_history("cannot write " + picture);
    }
    std::size_t grants = 0;
    for (const auto& [name, lock] : locks) {
      for (const auto& one : lock.attempts) grants += one.granted ? 1 : 0;
    }
    std::cout << events.size() << " events, " << grants << " grants, " << found.size() << " violations\n";
    return found.empty() ? 0 : 1;
  } catch (const bad_history& problem) {
    std::cerr << "rowlock-check: " << problem.what() << '\n';
    return usage;
  }
}
