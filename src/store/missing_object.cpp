#include "store/missing_object.hpp"

#include <algorithm>

namespace rowlock::store {

namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

// A byte of a quotation mark of any language. A mark outside of ASCII consists of bytes from 0x80 on.
bool is_quote(char c) {
  return c == '\'' || c == '"' || c == '`' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_name(std::string_view said, std::size_t start, std::size_t end) {
  const char before = start == 0 ? ' ' : said[start - 1];
  const char after = end == said.size() ? ' ' : said[end];
  if (after == '.') return false;  // the word is a schema or an alias; the missing name follows the dot
  const bool ends_line = end == said.size() && start >= 2 && said.substr(start - 2, 2) == ": ";
  return before == '.' || ends_line || (is_quote(before) && is_quote(after));
}

}  // namespace

bool names_rowlocks_own(std::string_view said, const sql_catalog& catalog) {
  std::string_view last;
  for (std::size_t at = 0; at < said.size();) {
    auto end = at;
    while (end < said.size() && is_identifier_char(said[end])) ++end;
    const auto word = said.substr(at, end - at);
    // A word in capitals names a clause of the statement, or is NEW.
    if (std::ranges::any_of(word, is_lower) && is_name(said, at, end)) last = word;
    at = end + 1;
  }
  return !last.empty() && catalog.uses(last);
}

bool is_of_migration(std::string_view doing) {
  return doing.starts_with("migration ") || doing.starts_with("the reversal of ") || doing == "create_ledger";
}

}  // namespace rowlock::store
