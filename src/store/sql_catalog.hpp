// A store's SQL statements by name, with the caller's table prefix in place.
#pragma once

#include "model/for_stores.hpp"
#include "store/embedded.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::store {

// A character of an unquoted name in SQL.
constexpr bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Replaces "rowlock_" by the prefix wherever an identifier starts with it.
std::string with_prefix(std::string_view sql, std::string_view prefix);

// Each file holds several statements. A line `-- name: verb` starts the statement `verb`. Two such lines
// above one text give it two names. A line that ends in `-- only: verb`, or that begins with it (and so is a
// comment for other tools), belongs to that name alone. Words like :queue_read_limit stand for the constants
// listed in sql_catalog.cpp.
class ROWLOCK_FOR_STORES sql_catalog {
 public:
  // Comment lines and empty lines are removed, so that the server need not parse them each time. Throws
  // error(internal) for text above the first name, for a name that has no text or occurs twice, and for
  // `-- only:` with a name that the text does not have.
  sql_catalog(std::span<const embedded::file> files, std::string_view prefix);

  // Throws error(internal) for an unknown name.
  const std::string& operator[](std::string_view name) const;

  // Whether a statement contains this name as a whole word. Searches the text of all statements.
  bool uses(std::string_view name) const;

  auto begin() const { return statements_.begin(); }
  auto end() const { return statements_.end(); }

 private:
  std::map<std::string, std::string, std::less<>> statements_;
};

}  // namespace rowlock::store
