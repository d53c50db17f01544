// Reads what `rowlock doctor` judges.
#include "store/backends.hpp"
#include "store/mysql/mysql_setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rowlock::store {

namespace {

constexpr int nodes_to_ask = 3;
// With this error a router that shares connections refuses a function of the session (LAST_INSERT_ID).
constexpr std::string_view function_of_the_session = "3566";
constexpr std::int64_t first_schema_with_history = 3;

struct open_place {
  std::unique_ptr<mysql_connection> connection;
  std::size_t number = 0;
  server_facts facts;
};

// A node that has left its cluster answers SHOW, and refuses everything else.
bool has_left_its_cluster(const server_facts& facts) {
  return facts.is("wsrep_on", "ON") &&
         !(facts.is("wsrep_ready", "ON") && facts.is("wsrep_cluster_status", "Primary"));
}

bool takes_writes(const server_facts& facts) {
  for (const auto* name : {"super_read_only", "read_only", "innodb_read_only"}) {
    if (facts.has(name) && !facts.is(name, "OFF") && !facts.is(name, "0")) return false;
  }
  return !has_left_its_cluster(facts);
}

open_place open_unchecked(const mysql_context& context, std::size_t place) {
  const auto limit = context.options.statement_timeout;
  open_place opened;
  opened.number = place;
  opened.connection = std::make_unique<mysql_connection>(context.endpoint, context.catalog,
                                                         context.options.connect_timeout, limit, place);
  auto cipher = opened.connection->read("doctor_cipher");
  check_encryption(context, cipher.next() ? cipher.text(1) : std::string{});
  opened.facts.add(opened.connection->read("doctor_variables"));
  opened.facts.add(opened.connection->read("doctor_status"));
  if (!has_left_its_cluster(opened.facts)) {
    try {
      check_unshared(*opened.connection);
    } catch (const error& refused) {
      if (refused.database_code() != function_of_the_session) throw;
      opened.facts.set("shares_connections", "true");
    }
    pin_settings(*opened.connection, context, limit);
  }
  return opened;
}

// The place that a client would use: the first that takes writes. If none does, the last that answers.
open_place find_place(const mysql_context& context) {
  std::optional<open_place> found;
  const auto places = context.endpoint.places();
  for (std::size_t place = 0; place < places; ++place) {
    try {
      found = open_unchecked(context, place);
      if (takes_writes(found->facts)) break;
    } catch (const error& failure) {
      if (failure.code() != errc::unreachable || (place + 1 == places && !found)) throw;
    }
  }
  return std::move(*found);
}

bool may(mysql_connection& connection, const char* statement) {
  try {
    connection.read(statement);
    return true;
  } catch (const error& refused) {
    if (refused.code() != errc::privilege) throw;
    return false;
  }
}

// The tables of the history that this user may not read or, if it may use locks, not write.
std::string missing_history_rights(mysql_connection& connection, bool uses_locks, const std::string& prefix) {
  std::vector<std::string> missing;
  const bool is_kept =
      may(connection, "doctor_history") && (!uses_locks || (may(connection, "doctor_history_written") &&
                                                            may(connection, "doctor_history_pruned")));
  if (!is_kept) missing.push_back(prefix + "history");
  if (!may(connection, "doctor_recordings")) missing.push_back(prefix + "recording");
  return fmt::format("{}", fmt::join(missing, ", "));
}

void read_schema(server_facts& facts, mysql_connection& connection, const std::string& prefix) {
  facts.add_if_allowed({"schema_version", "min_library"}, [&] {
    const auto state = read_schema_state(connection);
    facts.set("schema_version", state.version);
    facts.set("min_library", state.min_library);
  });
  if (facts.is("has_meta", "0")) {
    // The server hides what this user may not use: a missing table and a missing right look the same.
    if (!facts.has("schema_version")) {
      facts.set("schema_version", 0);
      facts.set("min_library", 0);
    }
    return;
  }
  facts.add_if_allowed({"skew_ms"}, [&] { facts.add(connection.read("doctor_skew")); });
  facts.add_if_allowed({"dead_leases"}, [&] { facts.add(connection.read("doctor_leases")); });
  facts.add_if_allowed({"idle_names"}, [&] { facts.add(connection.read("doctor_names")); });
  // MySQL refuses to plan a change on a server that takes no writes, whatever this user may do.
  if (facts.is("takes_writes", "false")) return;
  const bool uses_locks = may(connection, "doctor_may_write");
  facts.set("may_write", uses_locks ? "true" : "false");
  if (facts.number("schema_version") >= first_schema_with_history)
    facts.set("history_rights", missing_history_rights(connection, uses_locks, prefix));
}

// Behind a balancer each connection may lead to another node.
void read_nodes(server_facts& facts, const mysql_context& context, open_place& first) {
  std::set<std::string> nodes;
  const auto ask = [&](mysql_connection& connection) {
    auto node = connection.read("doctor_node");
    if (node.next()) nodes.insert(node.text(0));
  };
  ask(*first.connection);
  for (int asked = 1; asked < nodes_to_ask; ++asked) ask(*open_unchecked(context, first.number).connection);
  facts.set("nodes", fmt::format("{}", fmt::join(nodes, ", ")));
  facts.set("node_count", static_cast<std::int64_t>(nodes.size()));
}

void read_replication(server_facts& facts, mysql_connection& connection) {
  // MariaDB shows every user how many replicas follow the server.
  if (facts.has("Slaves_connected")) {
    facts.set("replicas", facts["Slaves_connected"]);
  } else if (may(connection, "doctor_replicas")) {
    facts.add(connection.read("doctor_replicas"));
  }
  // The variables and counters are named differently on MariaDB and MySQL.
  const auto is_on = [&](const char* of_mariadb, const char* of_mysql) {
    return facts.is(of_mariadb, "ON") || facts.is(of_mysql, "ON");
  };
  const bool waits = is_on("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled") &&
                     is_on("Rpl_semi_sync_master_status", "Rpl_semi_sync_source_status");
  facts.set("waits_for_replica", waits ? "true" : "false");
  // A MySQL server that is or was a replica, or was restored from another one, has executed transactions with
  // another server's uuid.
  const auto own = facts["server_uuid"];
  const auto executed = facts["gtid_executed"];
  bool follows = !facts["gtid_slave_pos"].empty();
  for (std::size_t at = 0; !own.empty() && at < executed.size();) {
    const auto end = std::min(executed.find(',', at), executed.size());
    const auto first = executed.find_first_not_of(" \n", at);
    follows = follows || (first < end && executed.compare(first, own.size(), own) != 0);
    at = end + 1;
  }
  facts.set("has_followed", follows ? "true" : "false");
}

void read_group(server_facts& facts, mysql_connection& connection) {
  if (facts["group_replication_group_name"].empty()) return;
  if (!may(connection, "connect_group")) {
    facts.set("group_part", "hidden");
    return;
  }
  auto member = connection.read("connect_group");
  facts.set("group_part", is_in_majority(member) ? "true" : "false");
}

void read_server(server_facts& facts, mysql_connection& connection) {
  facts.add(connection.read("doctor_server"));
  compare_clocks(facts, [&] {
    auto clock = connection.read("doctor_clock");
    clock.next();
    return clock.microseconds(0);
  });
  auto clock = connection.read("connect_clock");
  facts.set("sysdate_stands_still", clock.next() && clock.text(0) == clock.text(2) ? "true" : "false");
  bool is_strong = false;
  bool ignores_read_only = false;
  for (auto grants = connection.read("doctor_grants"); grants.next();) {
    const auto line = grants.text(0);
    is_strong = is_strong || line.starts_with("GRANT ALL PRIVILEGES ON *.*") ||
                line.find(" SUPER") != std::string::npos;
    // The right to write although read_only is ON: READ_ONLY ADMIN on MariaDB, CONNECTION_ADMIN on MySQL.
    for (const auto* right : {" READ_ONLY ADMIN", "CONNECTION_ADMIN"}) {
      ignores_read_only = ignores_read_only || line.find(right) != std::string::npos;
    }
  }
  facts.set("ignores_read_only", is_strong || ignores_read_only ? "true" : "false");
  facts.set("is_strong", is_strong ? "true" : "false");
  facts.add_if_allowed({"oldest_snapshot_s", "oldest_snapshot_id"},
                       [&] { facts.add(connection.read("doctor_transactions")); });
  read_replication(facts, connection);
  read_group(facts, connection);
}

}  // namespace

server_facts read_mysql_facts(const std::string& url, const store_options& options) {
  const mysql_context context{url, options};
  auto place = find_place(context);
  auto facts = place.facts;
  if (has_left_its_cluster(facts)) return facts;
  facts.set("takes_writes", takes_writes(facts) ? "true" : "false");
  // The variable is named differently on MariaDB and MySQL.
  facts.set("isolation", facts[facts.has("tx_isolation") ? "tx_isolation" : "transaction_isolation"]);
  read_server(facts, *place.connection);
  read_schema(facts, *place.connection, options.prefix);
  if (facts.is("wsrep_on", "ON")) read_nodes(facts, context, place);
  return facts;
}

}  // namespace rowlock::store
