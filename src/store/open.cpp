#include "store/open.hpp"

#include "model/names.hpp"
#include "store/backends.hpp"
#include "store/schema_version.hpp"
#include "store/url.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace rowlock::store {
namespace {

struct backend {
  std::string_view dialect;
  std::unique_ptr<database> (*open)(const std::string& url, const store_options& options);
  std::unique_ptr<migration_session> (*open_for_migration)(const std::string& url,
                                                           const store_options& options);
  server_facts (*read_facts)(const std::string& url, const store_options& options);
  std::span<const check> (*checks)();
};

constexpr backend backends[] = {
#ifdef ROWLOCK_HAS_POSTGRES
    {"postgres", &open_postgres, &open_postgres_for_migration, &read_postgres_facts, &postgres_checks},
#endif
#ifdef ROWLOCK_HAS_MYSQL
    {"mysql", &open_mysql, &open_mysql_for_migration, &read_mysql_facts, &mysql_checks},
#endif
#ifdef ROWLOCK_HAS_SQLITE
    {"sqlite", &open_sqlite, &open_sqlite_for_migration, &read_sqlite_facts, &sqlite_checks},
#endif
    {},
};

const backend& backend_of(const database_url& parsed) {
  const auto* found = std::ranges::find(backends, parsed.dialect, &backend::dialect);
  if (found != std::end(backends)) return *found;
  throw error(
      errc::invalid_argument,
      fmt::format("this build of rowlock has no store for {}, only for {}; install or build one that has it",
                  parsed.dialect, fmt::join(built_in_dialects(), ", ")));
}

database_url check_url(const std::string& url, const store_options& options) {
  auto parsed = parse_url(url);
  backend_of(parsed);
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

}  // namespace

store_options to_store_options(const options& settings) {
  store_options result;
  result.prefix = settings.prefix;
  result.schema = settings.schema;
  result.application = settings.application;
  result.statement_timeout = settings.statement_timeout;
  result.connect_timeout = settings.connect_timeout;
  result.read_only = settings.read_only;
  result.listen_url = settings.listen_url;
  return result;
}

std::vector<std::string> built_in_dialects() {
  std::vector<std::string> dialects;
  for (const auto& each : backends) {
    if (!each.dialect.empty()) dialects.emplace_back(each.dialect);
  }
  return dialects;
}

std::string dialect_of(std::string_view url) {
  return std::string{backend_of(parse_url(url)).dialect};
}

std::unique_ptr<database> open(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  return backend_of(parsed).open(parsed.target, options);
}

std::unique_ptr<migration_session> open_for_migration(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  return backend_of(parsed).open_for_migration(parsed.target, options);
}

server_facts read_facts(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  auto facts = backend_of(parsed).read_facts(parsed.target, options);
  facts.set("prefix", options.prefix);
  facts.set("library_version", library_schema_version);
  facts.set("migrate_command", migrate_command(options));
  return facts;
}

std::vector<check> checks_of(std::string_view dialect) {
  auto all = common_checks();
  for (const auto& each : backends) {
    if (each.dialect != dialect || each.dialect.empty()) continue;
    for (const auto& one : each.checks()) all.push_back(one);
  }
  return all;
}

}  // namespace rowlock::store
