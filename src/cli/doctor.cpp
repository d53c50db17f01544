#include "cli/exit_code.hpp"
#include "cli/findings_text.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"

#include <rowlock/doctor.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

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
    fmt::print("{}", findings_text(findings));
  }
  return std::ranges::count(findings, severity::error, &finding::level) == 0 ? success : found_errors;
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
