// Reads what `rowlock doctor` judges.
#include "store/backends.hpp"
#include "store/postgres/postgres_setup.hpp"

#include <fmt/format.h>

namespace rowlock::store {

namespace {

constexpr const char* written_tables[] = {"lease", "lock", "permit", "queue", "marker"};

void read_schema(server_facts& facts, postgres_connection& connection, const store_options& options) {
  const auto meta = options.prefix + "meta";
  auto found = connection.call_once("has_table", meta);
  const bool has_meta = found.next() && found.boolean(0);
  facts.add_if_allowed({"schema_version", "min_library"}, [&] {
    const auto state = read_schema_state(connection, has_meta);
    facts.set("schema_version", state.version);
    facts.set("min_library", state.min_library);
  });
  if (!has_meta) return;
  postgres_array written;
  for (const auto* table : written_tables) written.add(options.prefix + table);
  facts.add(connection.call_once("doctor_rights", written, meta, options.prefix + "lock",
                                 options.prefix + "recording", options.prefix + "history"));
  facts.add_if_allowed({"dead_leases"}, [&] { facts.add(connection.call_once("doctor_leases")); });
  facts.add_if_allowed({"idle_names"}, [&] { facts.add(connection.call_once("doctor_names")); });
}

}  // namespace

server_facts read_postgres_facts(const std::string& url, const store_options& options) {
  auto reading = options;
  reading.read_only = true;
  const postgres_context context{url, reading};
  connect_watch nobody;
  const auto opened = open_unchecked(context, options.statement_timeout, nobody);
  auto& connection = *opened;
  server_facts facts;
  facts.set("pooled", connection.is_pooled() ? "true" : "false");
  facts.set("listen_url", options.listen_url.empty() ? "" : "given");
  facts.add(connection.call_once("doctor_settings"));
  facts.add(connection.call_once("doctor_server"));
  compare_clocks(facts, [&] {
    auto clock = connection.call_once("doctor_clock");
    clock.next();
    return clock.microseconds(0);
  });
  read_schema(facts, connection, options);
  return facts;
}

}  // namespace rowlock::store
