#include "cli/findings_text.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rowlock::cli {

namespace {

std::string block_of(const finding& one) {
  return fmt::format("{}: {}\n  found:  {}\n  why:    {}\n  remedy: {}\n\n", to_string(one.level), one.code,
                     one_line(one.found), one_line(one.why), one_line(one.remedy));
}

std::string block_of_unknown(const std::vector<finding>& all) {
  std::string text = fmt::format("unknown: {} checks could not be made\n", all.size());
  std::vector<std::string> remedies;
  for (const auto& one : all) {
    text += fmt::format("  {}: {}\n", one.code, one_line(one.found));
    if (std::ranges::find(remedies, one.remedy) == remedies.end()) remedies.push_back(one.remedy);
  }
  for (const auto& remedy : remedies) text += fmt::format("  remedy: {}\n", one_line(remedy));
  return text + "\n";
}

}  // namespace

std::string findings_text(const std::vector<finding>& findings) {
  std::vector<finding> unknown;
  std::ranges::copy_if(findings, std::back_inserter(unknown),
                       [](const auto& one) { return one.level == severity::unknown; });
  std::string text;
  bool are_unknown_told = unknown.size() < 2;
  for (const auto& one : findings) {
    if (one.level != severity::unknown || unknown.size() < 2) {
      text += block_of(one);
    } else if (!are_unknown_told) {
      text += block_of_unknown(unknown);
      are_unknown_told = true;
    }
  }
  const auto count = [&](severity level) {
    return static_cast<long long>(std::ranges::count(findings, level, &finding::level));
  };
  return text + fmt::format("{}, {}, {} unknown, {}\n", count_of(count(severity::error), "error"),
                            count_of(count(severity::warning), "warning"), unknown.size(),
                            count_of(count(severity::note), "note"));
}

}  // namespace rowlock::cli
