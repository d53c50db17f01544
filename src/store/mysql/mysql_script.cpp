#include "store/mysql/mysql_script.hpp"

namespace rowlock::store {

namespace {

// The server takes "--" for a comment only before white space or a control character.
bool starts_line_comment(std::string_view sql, std::size_t at) {
  if (sql[at] == '#') return true;
  return sql.substr(at, 2) == "--" &&
         (at + 2 == sql.size() || static_cast<unsigned char>(sql[at + 2]) <= ' ');
}

// The position after the quoted text or comment that begins at `from`, or else after one character.
std::size_t skip(std::string_view sql, std::size_t from) {
  const char c = sql[from];
  const auto behind = [&](std::string_view end, std::size_t start) {
    const auto at = sql.find(end, start);
    return at == std::string_view::npos ? sql.size() : at + end.size();
  };
  if (starts_line_comment(sql, from)) return behind("\n", from);
  if (sql.substr(from, 2) == "/*") return behind("*/", from + 2);
  if (c != '\'' && c != '"' && c != '`') return from + 1;
  for (std::size_t at = from + 1; at < sql.size(); ++at) {
    if (sql[at] == '\\' && c != '`') {
      ++at;
    } else if (sql[at] == c) {
      return at + 1;  // a doubled quote begins the next quoted text
    }
  }
  return sql.size();
}

std::string trimmed(const std::string& text) {
  static constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace

std::vector<std::string> split_statements(std::string_view sql) {
  std::vector<std::string> result;
  std::string statement;
  const auto end_statement = [&] {
    if (auto text = trimmed(statement); !text.empty()) result.push_back(std::move(text));
    statement.clear();
  };
  for (std::size_t at = 0; at < sql.size();) {
    const auto next = skip(sql, at);
    if (sql[at] == ';') {
      end_statement();
    } else if (starts_line_comment(sql, at)) {
      // If the text before ends in "--", a line break would make that another comment.
      statement += statement.ends_with('-') ? "/**/\n" : "\n";
    } else {
      statement += sql.substr(at, next - at);
    }
    at = next;
  }
  end_statement();
  return result;
}

}  // namespace rowlock::store
