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

// The columns of the tables that are made in a file of schema/, or a migration. Each column has its own line, which
// begins with its name.
std::vector<std::string> columns_of(std::string_view schema) {
  std::istringstream lines{std::string{schema}};
  std::vector<std::string> result;
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.find("TABLE ");
    if (line.starts_with("CREATE ") && name != std::string::npos) {
      table = line.substr(name + 6, line.find(" (") - name - 6);
      if (constexpr std::string_view optional = "IF NOT EXISTS "; table.starts_with(optional)) {
        table.erase(0, optional.size());
      }
    } else if (line.starts_with(")")) {
      table.clear();
    } else if (!table.empty() && line.size() > 2 && is_lower(line[2])) {
      result.push_back(fmt::format("{}.{}", table, describe_column(line)));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// "table.column" of each line, with the prefix.
std::set<std::string> names_of(const std::vector<std::string>& lines, std::string_view prefix) {
  std::set<std::string> names;
  for (const auto& line : lines) names.insert(store::with_prefix(split(line).first, prefix));
  return names;
}

// Splits "table.column".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const auto point = name.find('.');
  return {name.substr(0, point), name.substr(point + 1)};
}

std::set<std::string> tables_of(const std::set<std::string>& names) {
  std::set<std::string> tables;
  for (const auto& name : names) tables.insert(split_name(name).first);
  return tables;
}

}  // namespace

std::optional<foreign_table> find_foreign_table(std::string_view file,
                                                const std::vector<std::string>& expected,
                                                const std::vector<std::string>& found,
                                                std::string_view prefix) {
  const auto wanted = names_of(expected, prefix);
  const auto there = names_of(found, prefix);
  const auto tables = tables_of(there);
  for (const auto& line : columns_of(file)) {
    const auto name = split(line).first;
    const auto [table, column] = split_name(name);
    if (tables.contains(table) && wanted.contains(name) && !there.contains(name)) return {{table, column}};
  }
  return {};
}

bool lacks_table(std::string_view file, const std::vector<std::string>& found, std::string_view prefix) {
  const auto tables = tables_of(names_of(found, prefix));
  return std::ranges::any_of(columns_of(file), [&](const std::string& line) {
    return !tables.contains(split_name(split(line).first).first);
  });
}

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
