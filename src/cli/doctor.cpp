#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/text.hpp"

#include <rowlock/doctor.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

int count(const std::vector<finding>& findings, severity level) {
  return static_cast<int>(std::ranges::count(findings, level, &finding::level));
}

void print_findings(const std::vector<finding>& findings) {
  for (const auto& one : findings) {
    fmt::print("{}: {}\n  found:  {}\n  why:    {}\n  remedy: {}\n\n", to_string(one.level), one.code,
               one_line(one.found), one_line(one.why), one_line(one.remedy));
  }
  fmt::print("{}, {}, {} unknown, {}\n", count_of(count(findings, severity::error), "error"),
             count_of(count(findings, severity::warning), "warning"), count(findings, severity::unknown),
             count_of(count(findings, severity::note), "note"));
}

int doctor(const context& global) {
  const auto findings = diagnose(global.database_url(), global.reading_options());
  if (global.json) {
    json::array array;
    for (const auto& one : findings) {
      array.push_back(json::object{{"code", one.code},
                                   {"severity", to_string(one.level)},
                                   {"found", one.found},
                                   {"why", one.why},
                                   {"remedy", one.remedy}});
    }
    print_json(array);
  } else {
    print_findings(findings);
  }
  return count(findings, severity::error) == 0 ? success : found_errors;
}

}  // namespace

void add_doctor(command_syntax root) {
  root.add_subcommand(
          "doctor",
          "Check whether rowlock can keep its promises on this database. Exit code 1: it found errors.",
          "rowlock doctor --json")
      .set_action(doctor);
}

}  // namespace rowlock::cli
