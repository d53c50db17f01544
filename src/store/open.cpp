#include "store/open.hpp"

#include "model/names.hpp"
#include "store/url.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#ifdef ROWLOCK_HAS_POSTGRES
#include "store/postgres/postgres_database.hpp"
#endif
#ifdef ROWLOCK_HAS_MYSQL
#include "store/mysql/mysql_database.hpp"
#endif
#ifdef ROWLOCK_HAS_SQLITE
#include "store/sqlite/sqlite_database.hpp"
#endif

namespace rowlock::store {
namespace {

database_url parse_built_in(std::string_view url) {
  auto parsed = parse_url(url);
  const auto dialects = built_in_dialects();
  if (std::find(dialects.begin(), dialects.end(), parsed.dialect) == dialects.end()) {
    throw error(
        errc::invalid_argument,
        fmt::format(
            "this build of rowlock has no store for {}, only for {}; install or build one that has it",
            parsed.dialect, fmt::join(dialects, ", ")));
  }
  return parsed;
}

database_url check(const std::string& url, const store_options& options) {
  auto parsed = parse_built_in(url);
  model::check_identifier("prefix", options.prefix);
  if (!options.schema.empty()) {
    model::check_identifier("schema", options.schema);
    if (parsed.dialect == "sqlite") {
      throw error(
          errc::invalid_argument,
          "a schema was given for an SQLite file, which has none; leave it out and tell sets of tables apart "
          "by their prefix");
    }
    if (parsed.dialect == "mysql") {
      throw error(errc::invalid_argument,
                  "a schema was given for MySQL, where a schema is a database; name it in the URL");
    }
  }
  return parsed;
}

[[noreturn]] void not_built_in() {
  throw error(errc::internal, "a store is listed as built in and is not");
}

}  // namespace

std::vector<std::string> built_in_dialects() {
  return {
#ifdef ROWLOCK_HAS_POSTGRES
      "postgres",
#endif
#ifdef ROWLOCK_HAS_MYSQL
      "mysql",
#endif
#ifdef ROWLOCK_HAS_SQLITE
      "sqlite",
#endif
  };
}

std::string dialect_of(std::string_view url) {
  return parse_built_in(url).dialect;
}

std::unique_ptr<database> open(const std::string& url, const store_options& options) {
  const auto parsed = check(url, options);
#ifdef ROWLOCK_HAS_POSTGRES
  if (parsed.dialect == "postgres") return open_postgres(parsed.target, options);
#endif
#ifdef ROWLOCK_HAS_MYSQL
  if (parsed.dialect == "mysql") return open_mysql(parsed.target, options);
#endif
#ifdef ROWLOCK_HAS_SQLITE
  if (parsed.dialect == "sqlite") return open_sqlite(parsed.target, options);
#endif
  not_built_in();
}

std::unique_ptr<migration_session> open_for_migration(const std::string& url, const store_options& options) {
  const auto parsed = check(url, options);
#ifdef ROWLOCK_HAS_POSTGRES
  if (parsed.dialect == "postgres") return open_postgres_for_migration(parsed.target, options);
#endif
#ifdef ROWLOCK_HAS_MYSQL
  if (parsed.dialect == "mysql") return open_mysql_for_migration(parsed.target, options);
#endif
#ifdef ROWLOCK_HAS_SQLITE
  if (parsed.dialect == "sqlite") return open_sqlite_for_migration(parsed.target, options);
#endif
  not_built_in();
}

}  // namespace rowlock::store
