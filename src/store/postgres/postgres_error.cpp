#include "store/postgres/postgres_error.hpp"

#include "store/driver_error.hpp"
#include "store/missing_object.hpp"
#include "store/postgres/pqxx_compat.hpp"
#include "store/rights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace rowlock::store {

namespace {

constexpr std::string_view sqlstate_mark = " (SQLSTATE ";

struct meaning {
  errc code;
  std::string_view advice;
};

meaning meaning_of(std::string_view state) {
  const auto is = [&](std::string_view start) { return state.starts_with(start); };
  // 25P03 and 25P04: the server has ended the session, because this process stood still in a transaction.
  if (is("08") || is("57P0") || is("25P03") || is("25P04")) return {errc::unreachable, ""};
  if (is("28")) return {errc::authentication, ""};
  if (is("42501")) return {errc::privilege, rights_to_use_locks};
  if (is("25006")) return {errc::read_only, "connect to the primary"};
  if (is("40001") || is("40P01") || is("55P03")) return {errc::contention, ""};
  if (is("57014")) return {errc::contention, "it was cancelled; the limit is options::statement_timeout"};
  return {errc::database, ""};
}

// libpq ends its texts with a line break. The lines after the first repeat the statement.
std::string_view first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (text.starts_with("ERROR:  ") || text.starts_with("FATAL:  ")) text.remove_prefix(8);
  return text;
}

// The meaning of an error about a missing table, column or schema. full: all lines of libpq's message.
meaning meaning_of_missing(std::string_view state, std::string_view full, std::string_view doing,
                           const sql_catalog& catalog) {
  // No statement of rowlock's runs inside a function, so an error in a function is that of a user's trigger.
  const bool in_function = full.find("\nCONTEXT:  ") != std::string_view::npos;
  if (is_of_migration(doing) && !in_function) {
    if (state != "3F000") return {errc::schema, verify_the_schema};
    return {errc::schema,
            "no schema of this role's search_path exists; create one, or name one that exists with --schema"};
  }
  if (in_function || !names_rowlocks_own(first_line(full), catalog)) {
    return {errc::database, check_the_triggers};
  }
  return {errc::not_migrated, "rowlock's tables are missing or too old here; run: rowlock migrate up"};
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// The SQLSTATE that follows " (SQLSTATE "; empty if there is none.
std::string_view sqlstate_in(std::string_view said) {
  const auto found = said.find(sqlstate_mark);
  return found == std::string_view::npos ? std::string_view{} : said.substr(found + sqlstate_mark.size(), 5);
}

constexpr std::string_view digits = "0123456789";
constexpr std::string_view in_sqlstates = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Whether the line is like "LOCATION:  function, file.c:12"; its first word may be in another language.
bool is_place_in_source(std::string_view line) {
  const auto comma = line.find(", ");
  return line.find(":  ") < comma && comma != std::string_view::npos &&
         line.find(' ', comma + 2) == std::string_view::npos &&
         line.find_last_not_of(digits) == line.rfind(':') && !line.ends_with(':');
}

// Moves the SQLSTATE of a line like "FATAL:  28P01: text" to the line's end; the first word may be in another
// language.
void move_sqlstate(std::string& line) {
  constexpr std::size_t length = 5;
  for (auto found = line.find(":  "); found != std::string::npos; found = line.find(":  ", found + 1)) {
    const auto start = found + 3;
    if (line.find_first_not_of(in_sqlstates, start) != start + length ||
        line.compare(start + length, 2, ": ") != 0)
      continue;
    line += fmt::format("{}{})", sqlstate_mark, line.substr(start, length));
    line.erase(start, length + 2);
    return;
  }
}

}  // namespace

std::string with_sqlstate_last(const std::string& said) {
  std::string result;
  std::istringstream lines{said};
  for (std::string line; std::getline(lines, line);) {
    if (is_place_in_source(line)) continue;
    move_sqlstate(line);
    result += line + '\n';
  }
  return result;
}

error postgres_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog) {
  if (const auto* known = dynamic_cast<const error*>(&cause)) return *known;

  const auto* failure = dynamic_cast<const pqxx::failure*>(&cause);
  if (!failure) return driver_error(cause, doing);

  const bool broken = dynamic_cast<const pqxx::broken_connection*>(failure) != nullptr ||
                      dynamic_cast<const pqxx::in_doubt_error*>(failure) != nullptr;
  const auto state = pqxx_compat::sqlstate(*failure);
  const auto said = first_line(failure->what());
  if (broken || state.empty()) {
    return error(errc::unreachable,
                 fmt::format("the connection to PostgreSQL broke during {}: {}", doing, said), state, true);
  }
  const bool missing = state == "42P01" || state == "42703" || state == "3F000";
  auto [code, advice] =
      missing ? meaning_of_missing(state, failure->what(), doing, catalog) : meaning_of(state);
  if (state == "42501" && is_of_migration(doing)) {
    advice = "migrate as a role that owns the schema, or grant this one USAGE and CREATE on it";
  } else if (state == "42501" && contains_any(said, {"row-level security"})) {
    advice =
        "rowlock must see and change every row of its tables; "
        "run: ALTER TABLE ... DISABLE ROW LEVEL SECURITY";
  }
  return error(code,
               fmt::format("PostgreSQL refused {}: {}{}{}){}{}", doing, said, sqlstate_mark, state,
                           advice.empty() ? "" : "; ", advice),
               state, code == errc::unreachable);
}

error postgres_connect_error(std::string_view said) {
  while (said.ends_with('\n')) said.remove_suffix(1);
  errc code = errc::unreachable;
  const std::string state{sqlstate_in(said)};
  if (contains_any(said,
                   {" (SQLSTATE 28", "authentication failed", "no password supplied", "no pg_hba.conf entry",
                    "pg_hba.conf rejects", "is not permitted to log in", "certificate"}) ||
      (contains_any(said, {"role \""}) && contains_any(said, {"does not exist"}))) {
    code = errc::authentication;
  } else if (contains_any(said, {" (SQLSTATE 42501)", "permission denied for database"})) {
    code = errc::privilege;
  } else if (contains_any(said, {"session is read-only", "server is in hot standby mode"})) {
    code = errc::read_only;
  } else if (contains_any(said, {" (SQLSTATE 3D000)"}) ||
             (contains_any(said, {"database \""}) && contains_any(said, {"does not exist"}))) {
    return error(
        errc::not_migrated,
        fmt::format(
            "cannot connect to PostgreSQL: {}; create the database, or name another one in the URL, then "
            "run: rowlock migrate up",
            said),
        state);
  }
  return error(code, fmt::format("cannot connect to PostgreSQL: {}", said), state);
}

}  // namespace rowlock::store
