#include "store/postgres/postgres_literal.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <charconv>

namespace rowlock::store {

std::string postgres_literal(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  std::string result = escapes ? " E'" : "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += c;
    result += c;
  }
  return result + '\'';
}

std::string with_arguments(std::string_view sql, std::span<const std::string> arguments) {
  std::string result;
  bool inside = false;  // a string constant
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] == '\'') inside = !inside;
    std::size_t number = 0;
    const auto* end = sql.data() + sql.size();
    const auto read = std::from_chars(sql.data() + at + 1, end, number);
    if (inside || sql[at] != '$' || read.ec != std::errc{}) {
      result += sql[at];
      continue;
    }
    if (number == 0 || number > arguments.size())
      throw error(errc::internal, fmt::format("a query has no argument for ${}", number));
    result += postgres_literal(arguments[number - 1]);
    at = static_cast<std::size_t>(read.ptr - sql.data()) - 1;
  }
  return result;
}

}  // namespace rowlock::store
