#include "store/mysql/mysql_setup.hpp"

#include "store/decode.hpp"
#include "store/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace rowlock::store {

namespace {

// rowlock's statements need JSON_TABLE and SKIP LOCKED.
constexpr int oldest_mariadb = 10'06'00;
constexpr int oldest_mysql = 8'00'00;
// MySQL reads JSON_TABLE's columns in the connection's character set from this version on, and in the
// database's before. MariaDB reads them in the database's, which connect_settings sets.
constexpr int json_in_our_character_set = 8'00'31;

using names_and_values = std::map<std::string, std::string>;

names_and_values by_name(mysql_rows rows) {
  names_and_values result;
  while (rows.next()) result[rows.text(0)] = rows.text(1);
  return result;
}

bool is_mariadb(const std::string& version) {
  return version.find("MariaDB") != std::string::npos;
}

void check_version(const std::string& version) {
  const bool mariadb = is_mariadb(version);
  if (mysql_version_number(version) >= (mariadb ? oldest_mariadb : oldest_mysql)) return;
  throw error(errc::database, fmt::format("{} {} is too old for rowlock, which needs {} or later",
                                          mariadb ? "MariaDB" : "MySQL", version, mariadb ? "10.6" : "8.0"));
}

void check_writable(names_and_values& variables) {
  for (const auto* name : {"super_read_only", "read_only", "innodb_read_only"}) {
    const auto& value = variables[name];
    if (value.empty() || value == "OFF" || value == "0") continue;
    throw error(errc::read_only,
                fmt::format("{} is {} on this MySQL server: it is a replica, or was made read-only; "
                            "connect to the primary",
                            name, value));
  }
}

void check_cluster(names_and_values& status) {
  if (status["wsrep_ready"] == "ON" && status["wsrep_cluster_status"] == "Primary") return;
  throw error(
      errc::unreachable,
      fmt::format("this Galera node may not be used now: wsrep_ready is {}, wsrep_cluster_status is {}; "
                  "connect to a node of the primary component",
                  status["wsrep_ready"], status["wsrep_cluster_status"]));
}

// The clock is read twice, with a pause in between. The readings are equal under sysdate-is-now; otherwise
// they differ, even if the clock was set back meanwhile, and cannot be equal by chance three times.
void check_clock(mysql_connection& connection) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto clock = connection.read("connect_clock");
    if (clock.next() && clock.text(0) != clock.text(2)) return;
  }
  throw error(
      errc::database,
      "this server runs with sysdate-is-now, so a statement that waited reads an old clock: leases would be "
      "renewed after they have expired. Start the server without that option");
}

void check_character_set(const std::string& of_database, const std::string& version,
                         const mysql_context& context) {
  if (is_mariadb(version) || mysql_version_number(version) >= json_in_our_character_set) return;
  if (!of_database.starts_with("utf16") && !of_database.starts_with("utf32") && of_database != "ucs2") return;
  throw error(errc::database,
              fmt::format("the character set of database \"{0}\" is {1}, in which this server does not "
                          "understand hex digits; run: ALTER DATABASE `{0}` CHARACTER SET utf8mb4",
                          context.endpoint.database(), of_database));
}

// Refuses a binary log of statements (binlog_format), because no write of ours can be logged there.
void check_replication(names_and_values& variables) {
  const bool logs = variables["log_bin"] == "ON" || variables["log_bin"] == "1";
  if (logs && variables["binlog_format"] == "STATEMENT") {
    throw error(errc::database,
                "binlog_format is STATEMENT on this server, so it accepts no write under READ COMMITTED; "
                "set it to ROW or MIXED");
  }
}

bool has_several_primaries(names_and_values& variables) {
  return !variables["group_replication_group_name"].empty() &&
         variables["group_replication_single_primary_mode"] == "OFF";
}

// Checks this member of a replication group, and makes the session wait for what other members have
// committed. Returns an id that was made when the group was bootstrapped; empty if this user may not see it.
std::string join_group(mysql_connection& connection, bool several_primaries) {
  connection.write(several_primaries ? "connect_group_causal" : "connect_group_failover");
  try {
    auto member = connection.read("connect_group");
    if (is_in_majority(member)) return member.text("incarnation");
    throw error(errc::unreachable,
                "this server belongs to a replication group, "
                "and is not ONLINE in its majority now; connect to a member that is");
  } catch (const error& refused) {
    if (refused.code() != errc::privilege) throw;
    if (!several_primaries) return {};
    throw error(errc::privilege,
                "this MySQL server belongs to a group with several primaries, and the user may not see "
                "whether it is a "
                "member of the group's majority now; grant the user SELECT ON "
                "performance_schema.replication_group_members and ON "
                "performance_schema.replication_group_member_stats",
                refused.database_code());
  }
}

std::string danger_of(names_and_values& variables) {
  const bool logs = variables["log_bin"] == "ON" || variables["log_bin"] == "1";
  if (const auto& sync = variables["sync_binlog"]; logs && sync != "1") {
    return fmt::format(
        "sync_binlog is {} and log_bin is ON: "
        "after a power loss the server rolls back what its binary log has lost, "
        "and a token may be granted twice. Set it to 1",
        sync);
  }
  if (const auto& flush = variables["innodb_flush_log_at_trx_commit"]; flush != "1") {
    return fmt::format(
        "innodb_flush_log_at_trx_commit is {}: a crash of the server may lose the grants of the last second, "
        "and other clients may be granted the same locks. Set it to 1",
        flush);
  }
  const auto& limit = variables["max_allowed_packet"];
  std::int64_t packet = 0;
  std::from_chars(limit.data(), limit.data() + limit.size(), packet);
  if (packet < largest_statement) {
    return fmt::format(
        "max_allowed_packet is {}: a batch of many long names does not fit, and the server would close the "
        "connection. Set it to {} or more",
        packet, largest_statement);
  }
  return {};
}

}  // namespace

int mysql_version_number(const std::string& version) {
  int parts[3] = {};
  const auto* at = version.data();
  const auto* end = at + version.size();
  for (auto& part : parts) {
    at = std::from_chars(at, end, part).ptr;
    if (at < end) ++at;
  }
  return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

mysql_context::mysql_context(const std::string& url, const store_options& given)
    : options{given}, endpoint{url}, catalog{embedded::mysql_queries(), given.prefix} {}

void check_unshared(mysql_connection& connection) {
  if (connection.is_behind_router()) connection.read("connect_unshared");
}

void pin_settings(mysql_connection& connection, const mysql_context& context,
                  std::chrono::milliseconds statement_timeout) {
  // A migration's statements have no time limit, because one of them waits for another migrator. But none
  // waits for ever for a lock, and no transaction stands idle for ever.
  const auto lock_wait =
      statement_timeout.count() > 0 ? statement_timeout : context.options.statement_timeout;
  connection.write("connect_rollback");
  connection.write("connect_names");
  connection.write("connect_settings",
                   {{"timeout_ms", statement_timeout},
                    {"timeout_s", mysql_literals{fmt::format("{:.3f}", statement_timeout.count() / 1000.0)}},
                    {"lock_wait_s", whole_seconds(lock_wait)}});
  for (const auto& [setting, value] : by_name(connection.read("connect_later_settings"))) {
    connection.write("connect_" + setting);
  }
  connection.write("connect_isolation");
}

void check_encryption(const mysql_context& context, const std::string& cipher) {
  if (!context.endpoint.must_encrypt() || !cipher.empty()) return;
  throw error(errc::unreachable,
              "this MySQL server offers no TLS, and the URL requires it (ssl_mode, ssl_ca)");
}

mysql_facts set_up(mysql_connection& connection, const mysql_context& context,
                   std::chrono::milliseconds statement_timeout) {
  check_unshared(connection);
  pin_settings(connection, context, statement_timeout);
  auto facts = connection.read("connect_facts");
  facts.next();
  const auto version = facts.text("version");
  check_version(version);
  if (is_mariadb(version)) connection.set_mariadb();
  check_character_set(facts.text("character_set"), version, context);
  check_clock(connection);
  auto variables = by_name(connection.read("connect_variables"));
  auto status = by_name(connection.read("connect_status"));
  check_encryption(context, status["Ssl_cipher"]);
  if (context.options.read_only) {
    connection.write("connect_read_only");
  } else {
    check_writable(variables);
  }
  check_replication(variables);

  std::string incarnation;
  if (!variables["group_replication_group_name"].empty() && !context.options.read_only) {
    incarnation = join_group(connection, has_several_primaries(variables));
  }

  mysql_facts result;
  result.connection = facts.integer("connection");
  result.peer = facts.text("peer");
  if (const auto process = connection.local_server()) result.peer = fmt::format("localhost/{}", *process);
  auto start = connection.read("connect_start");
  start.next();
  result.up_since = start.integer(0);
  result.node = fmt::format("{}:{}", variables["hostname"], variables["port"]);
  if (variables["wsrep_on"] == "ON") {
    check_cluster(status);
    connection.write("connect_cluster");
    connection.send_one_by_one();
    context.clustered = result.clustered = true;
    result.identity = "galera/" + status["wsrep_cluster_state_uuid"];
  } else if (has_several_primaries(variables)) {
    context.clustered = result.clustered = true;
    result.identity = fmt::format("group/{}/{}", variables["group_replication_group_name"], incarnation);
  } else if (const auto& uuid = variables["server_uuid"]; !uuid.empty()) {
    result.identity = "mysql/" + uuid;
  } else {
    // MariaDB has no uuid. A replica differs from its primary at least in server_id.
    result.identity =
        fmt::format("mariadb/{}/{}/{}", result.node, variables["server_id"], variables["datadir"])
            .substr(0, 255);
  }
  const auto marker_engine = facts.text("marker_engine");
  result.marker_stays = !marker_engine.empty() && marker_engine != "MEMORY";
  result.danger = danger_of(variables);
  return result;
}

mysql_opened open_connection(const mysql_context& context, std::chrono::milliseconds statement_timeout,
                             connect_watch& watch) {
  using clock = std::chrono::steady_clock;
  const auto places = context.endpoint.places();
  const auto first = context.place.load();
  const auto deadline = clock::now() + context.options.connect_timeout;
  for (std::size_t tried = 0;; ++tried) {
    const auto place = (first + tried) % places;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    const auto share =
        std::max(left / static_cast<std::int64_t>(places - tried), std::chrono::milliseconds{1});
    try {
      mysql_opened made;
      made.connection = std::make_unique<mysql_connection>(context.endpoint, context.catalog, share,
                                                           statement_timeout, place);
      {
        const connect_watch::step step{watch, [&] { made.connection->interrupt(); }};
        made.facts = set_up(*made.connection, context, statement_timeout);
      }
      context.place = place;
      return made;
    } catch (const error& failure) {
      const bool elsewhere = failure.code() == errc::unreachable || failure.code() == errc::read_only;
      if (!elsewhere || tried + 1 == places) throw;
    }
  }
}

bool is_in_majority(mysql_rows& member) {
  return member.next() && member.text("member_state") == "ONLINE" && !member.boolean("lacks_majority");
}

schema_state read_schema_state(mysql_connection& connection) {
  try {
    return read_schema_state(connection.read("schema_state"));
  } catch (const error& problem) {
    if (problem.code() == errc::not_migrated) return {};
    throw;
  }
}

}  // namespace rowlock::store
