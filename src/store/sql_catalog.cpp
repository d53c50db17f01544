#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

namespace rowlock::store {

namespace {

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string without_comments(std::string_view sql) {
  std::string result;
  while (!sql.empty()) {
    const auto end = sql.find('\n');
    const auto line = sql.substr(0, end);
    sql = end == std::string_view::npos ? std::string_view{} : sql.substr(end + 1);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line.substr(first).starts_with("--")) continue;
    if (!result.empty()) result += '\n';
    result += line;
  }
  // A trailing semicolon makes the file valid for other tools; a prepared statement does without it.
  while (!result.empty() && (result.back() == ';' || result.back() == '\n')) result.pop_back();
  return result;
}

}  // namespace

std::string with_prefix(std::string_view sql, std::string_view prefix) {
  static constexpr std::string_view shipped = "rowlock_";
  std::string result;
  std::size_t from = 0;
  for (auto at = sql.find(shipped); at != std::string_view::npos; at = sql.find(shipped, from)) {
    const bool starts_identifier = at == 0 || !is_identifier_char(sql[at - 1]);
    result += sql.substr(from, at - from);
    result += starts_identifier ? prefix : shipped;
    from = at + shipped.size();
  }
  result += sql.substr(from);
  return result;
}

sql_catalog::sql_catalog(std::span<const embedded::file> files, std::string_view prefix) {
  for (const auto& file : files) {
    queries_.emplace(file.name, with_prefix(without_comments(file.text), prefix));
  }
}

const std::string& sql_catalog::operator[](std::string_view name) const {
  const auto found = queries_.find(name);
  if (found == queries_.end()) throw error(errc::internal, "no query is named " + std::string{name});
  return found->second;
}

}  // namespace rowlock::store
