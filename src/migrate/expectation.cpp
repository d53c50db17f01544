#include "migrate/expectation.hpp"

#include "store/embedded.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <map>

namespace rowlock::embedded {
std::span<const file> expected_schemas();
}

namespace rowlock::migrate {

namespace {

// Splits "table.column type not null" at its first space.
std::pair<std::string, std::string> split(const std::string& line) {
  const auto space = line.find(' ');
  if (space == std::string::npos) return {line, ""};
  return {line.substr(0, space), line.substr(space + 1)};
}

}  // namespace

std::vector<std::string> expected_schema(std::string_view dialect) {
  for (const auto& file : embedded::expected_schemas()) {
    if (file.name != fmt::format("{}.txt", dialect)) continue;
    std::vector<std::string> lines;
    auto rest = file.text;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      if (end != 0) lines.emplace_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    return lines;
  }
  throw error(errc::internal, fmt::format("no expected schema for dialect '{}'", dialect));
}

std::vector<std::string> differences(const std::vector<std::string>& expected,
                                     const std::vector<std::string>& found, std::string_view prefix) {
  std::map<std::string, std::string> columns;
  for (const auto& line : found) columns.insert(split(line));

  std::vector<std::string> result;
  for (const auto& line : expected) {
    const auto [column, type] = split(line);
    const auto there = columns.find(column);
    const auto name = store::with_prefix(column, prefix);
    if (there == columns.end()) {
      result.push_back(fmt::format("column {} is missing; expected {}", name, type));
    } else if (there->second != type) {
      result.push_back(fmt::format("column {} is {}; expected {}", name, there->second, type));
    }
  }
  return result;
}

}  // namespace rowlock::migrate
