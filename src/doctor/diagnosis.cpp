#include "doctor/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::doctor {

namespace {

// Why the check cannot be decided. Empty if none of the facts that it reads is unknown.
std::string what_is_unknown(const store::check& check, const store::server_facts& facts) {
  for (const auto& name : check.when.reads) {
    if (const auto* reason = facts.why_unknown(name))
      return fmt::format("{} cannot be read: {}", name, *reason);
  }
  return {};
}

}  // namespace

std::string filled(std::string_view text, const store::server_facts& facts) {
  std::string result;
  while (true) {
    const auto begin = text.find('{');
    const auto end = text.find('}', begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return result += text;
    result += text.substr(0, begin);
    result += facts[text.substr(begin + 1, end - begin - 1)];
    text.remove_prefix(end + 1);
  }
}

std::vector<finding> judge(std::span<const store::check> checks, const store::server_facts& facts) {
  std::vector<finding> findings;
  for (const auto& check : checks) {
    const auto unknown = what_is_unknown(check, facts);
    if (!unknown.empty()) {
      findings.push_back(
          {std::string{check.code}, severity::unknown, unknown,
           fmt::format("So the doctor did not check this. If it were so: {}", filled(check.why, facts)),
           "run rowlock doctor once with more rights (PostgreSQL: pg_read_all_stats; MariaDB and "
           "MySQL: PROCESS; rowlock's tables: SELECT)"});
    } else if (check.when.holds(facts)) {
      findings.push_back({std::string{check.code}, check.level, filled(check.found, facts),
                          filled(check.why, facts), filled(check.remedy, facts)});
    }
  }
  std::ranges::stable_sort(findings, std::ranges::greater{}, &finding::level);
  return findings;
}

}  // namespace rowlock::doctor
