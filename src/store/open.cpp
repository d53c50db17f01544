#include "store/open.hpp"

#include "model/names.hpp"
#include "store/registry.hpp"
#include "store/schema_version.hpp"
#include "store/url.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <string_view>

namespace rowlock::store {
namespace {

const linked_store& store_of(const database_url& parsed) {
  if (const auto* found = find_store(parsed.dialect)) return *found;
  throw error(
      errc::invalid_argument,
      fmt::format("this program is linked with no store for {0}, only with: {1}; link rowlock::{0} (CMake) "
                  "or rowlock-{0} (pkg-config)",
                  parsed.dialect, linked_dialects_text()));
}

database_url check_url(const std::string& url, const store_options& options) {
  auto parsed = parse_url(url);
  store_of(parsed);
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

std::string dialect_of(std::string_view url) {
  return std::string{store_of(parse_url(url)).dialect};
}

std::unique_ptr<database> open(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  return store_of(parsed).open(parsed.target, options);
}

std::unique_ptr<migration_session> open_for_migration(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  return store_of(parsed).open_for_migration(parsed.target, options);
}

server_facts read_facts(const std::string& url, const store_options& options) {
  const auto parsed = check_url(url, options);
  auto facts = store_of(parsed).read_facts(parsed.target, options);
  facts.set("prefix", options.prefix);
  facts.set("library_version", library_schema_version);
  facts.set("migrate_command", migrate_command(options));
  return facts;
}

std::vector<check> checks_of(std::string_view dialect) {
  std::vector<check> all;
  const auto add = [&](std::span<const check> table) { all.insert(all.end(), table.begin(), table.end()); };
  add(common_checks());
  if (const auto* found = find_store(dialect)) add(found->checks());
  return all;
}

}  // namespace rowlock::store
