#include "migrate/expectation.hpp"

#include "store/embedded.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace rowlock::embedded {
std::span<const file> schemas();
}

namespace rowlock::migrate {

namespace {

// Splits "table.column type not null" at its first space.
std::pair<std::string, std::string> split(const std::string& line) {
  const auto space = line.find(' ');
  if (space == std::string::npos) return {line, ""};
  return {line.substr(0, space), line.substr(space + 1)};
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

// "column type constraints," as "column type not null". The type ends before the first constraint.
std::string describe_column(const std::string& line) {
  static const std::set<std::string_view> constraints{"NOT", "COLLATE", "DEFAULT", "GENERATED", "CHECK"};
  std::istringstream words{line.substr(0, line.find_first_of(",-"))};
  std::string described;
  words >> described;
  for (std::string word; words >> word && !constraints.contains(word);) described += ' ' + word;
  return line.find(" NOT NULL") == std::string::npos ? described : described + " not null";
}

// The columns of the tables in a file of schema/. Each column has its own line, which begins with its name.
std::vector<std::string> columns_of(std::string_view schema) {
  std::istringstream lines{std::string{schema}};
  std::vector<std::string> result;
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.find("TABLE ");
    if (line.starts_with("CREATE ") && name != std::string::npos) {
      table = line.substr(name + 6, line.find(" (") - name - 6);
    } else if (line.starts_with(")")) {
      table.clear();
    } else if (!table.empty() && line.size() > 2 && is_lower(line[2])) {
      result.push_back(fmt::format("{}.{}", table, describe_column(line)));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

std::vector<std::string> expected_schema(std::string_view dialect) {
  for (const auto& file : embedded::schemas()) {
    if (file.name == dialect) return columns_of(file.text);
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
