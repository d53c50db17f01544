// Arguments in the text of a query, which a pooler needs.
#ifdef ROWLOCK_TEST_POSTGRES
#include "store/postgres/postgres_literal.hpp"

#include "fuzz.hpp"

#include <vector>

using namespace rowlock;

namespace {

// Reads a constant as PostgreSQL does. False: the text is not exactly one constant.
bool read_constant(std::string_view sql, std::string& value) {
  const bool escapes = sql.starts_with(" E'");
  sql.remove_prefix(escapes ? 2 : 0);
  if (sql.size() < 2 || sql.front() != '\'' || sql.back() != '\'') return false;
  sql = sql.substr(1, sql.size() - 2);
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] == '\'' || (escapes && sql[at] == '\\')) {
      if (at + 1 == sql.size() || sql[at + 1] != sql[at]) return false;
      ++at;
    } else if (sql[at] == '\\') {
      return false;  // its meaning would depend on standard_conforming_strings
    }
    value += sql[at];
  }
  return true;
}

}  // namespace

ROWLOCK_FUZZ(literal) {
  std::string value;
  fuzz::demand(read_constant(store::postgres_literal(bytes), value) && value == bytes,
               "a literal is one constant with the same value");

  const std::vector<std::string> arguments{std::string{bytes}, "2"};
  const auto query = store::with_arguments("SELECT $1::text, '$1', $2::int", arguments);
  fuzz::demand(query == "SELECT " + store::postgres_literal(bytes) + "::text, '$1', '2'::int",
               "an argument is never read again");
  fuzz::accepts([&] { store::with_arguments(bytes, arguments); }, errc::internal);
}
#endif
