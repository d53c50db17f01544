#include "cli/guard_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace rowlock::cli {

namespace {

// Calls put(i) for each parameter of the statement, in order, and copies the rest. The dialects write them $1, ? and ?1.
template <class Put>
std::string with_parameters(std::string_view sql, Put put) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '$' && sql[i] != '?') {
      text += sql[i];
      continue;
    }
    const bool is_numbered = i + 1 < sql.size() && (sql[i + 1] == '1' || sql[i + 1] == '2');
    text += put(is_numbered ? static_cast<std::size_t>(sql[++i] - '1') : next++);
  }
  return text;
}

// A name of other than the plainest characters is written in hexadecimal digits, so that no setting of the connection
// changes its meaning.
std::string literal(const std::string& text, const std::string& sql) {
  const auto is_plain = [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) ||
           std::string_view{" /._:@-+#=,"}.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::ranges::all_of(text, is_plain)) return '\'' + text + '\'';
  std::string digits;
  for (const unsigned char c : text) digits += fmt::format("{:02x}", c);
  if (sql.find('$') != std::string::npos) return "convert_from(decode('" + digits + "', 'hex'), 'UTF8')";
  if (sql.find("?1") != std::string::npos) return "CAST(x'" + digits + "' AS TEXT)";
  return "x'" + digits + '\'';
}

// How the drivers write parameters.
std::string placeholder(const std::string& style, std::size_t parameter, const std::string& sql) {
  if (style == "dollar") return fmt::format("${}", parameter + 1);
  if (style == "named") return parameter == 0 ? ":name" : ":hold";
  if (style == "percent") return parameter == 0 ? "%(name)s" : "%(hold)s";
  // SQLite's statement needs each parameter twice.
  return sql.find("?1") != std::string::npos ? fmt::format("?{}", parameter + 1) : "?";
}

}  // namespace

std::string with_values(const std::string& sql, const guard_statement& guard) {
  return with_parameters(sql, [&](std::size_t i) { return literal(guard.parameters[i], sql); });
}

std::string with_placeholders(const std::string& sql, const std::string& style) {
  return with_parameters(sql, [&](std::size_t i) { return placeholder(style, i, sql); });
}

}  // namespace rowlock::cli
