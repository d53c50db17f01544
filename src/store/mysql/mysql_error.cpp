#include "store/mysql/mysql_error.hpp"

#include "store/missing_object.hpp"
#include "store/rights.hpp"

#include <fmt/format.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

namespace rowlock::store {

namespace {

struct meaning {
  errc code;
  std::string_view advice;
};

// Numbers of the server (from 1000) and of the client library (2000 to 2999; only those that can occur here).
// An unreachable one of either sort means that the connection is broken.
meaning meaning_of(unsigned number) {
  switch (number) {
    case 1040:  // too many connections
    case 1042:  // the host's name
    case 1043:  // bad handshake
    case 1047:  // a Galera node that is not ready, or not in the primary component
    case 1053:  // the server shuts down
    case 1077:
    case 1079:
    case 1080:
    case 1081:
    case 1041:  // no memory for another connection
    case 1129:  // the host is blocked
    case 1135:  // no thread for another connection
    case 1152:
    case 1153:  // packet too large
    case 1154:
    case 1155:
    case 1156:
    case 1157:
    case 1158:
    case 1159:
    case 1160:
    case 1161:
    case 1184:
    case 1203:
    case 1226:
    case 1927:  // killed
    case 2001:  // no socket
    case 2002:
    case 2003:
    case 2004:
    case 2005:
    case 2006:
    case 2012:
    case 2013:
    case 2014:
    case 2026:  // TLS
    case 2027:
    case 2055:
    case 3032:  // offline_mode: by default a member that its replication group has expelled
    case 3100:  // the member can neither certify nor wait: it has left its group, or the group has no majority
    case 3168:
    case 3169:
    case 3781:  // a new primary has not applied in time what the former one committed
    case 3782:
    case 3796:  // group_replication_consistency: the member cannot catch up with its group now
    case 3797:
    case 3798:
    case 3799:
    case 4031:  // closed for being idle
    case 4081:  // closed for the memory that all connections take
    case 4082:  // closed for the memory that it takes
      return {errc::unreachable, ""};
    case 1045:
    case 1130:
    case 1131:
    case 1132:
    case 1133:
    case 1251:
    case 1524:
    case 1698:
    case 1820:
    case 1862:
    case 1873:
    case 2054:
    case 2058:
    case 2059:
    case 2061:  // as when the client library may not send the password unencrypted (caching_sha2_password)
    case 3118:
    case 3159:  // require_secure_transport
    case 3955:
    case 4151: return {errc::authentication, ""};
    case 1044:
    case 1142:
    case 1143:
    case 1370: return {errc::privilege, rights_to_use_locks};
    case 1227:
      return {errc::privilege, rights_to_see_everything};  // a right on the whole server, such as PROCESS
    case 1036:                                             // innodb_read_only
    case 1290:                                             // the server runs with --read-only
    case 1792:
    case 1836:
    case 1874: return {errc::read_only, "connect to the primary"};
    case 3989: return {errc::read_only, "run: ALTER DATABASE … READ ONLY = 0"};
    case 1020:
    case 1180:  // a commit that the cluster refused
    case 1205:
    case 1213:
    case 1614:
    case 3101:  // a commit that the replication group refused
    case 3572:
    case 4094:  // another member is being made the primary
      return {errc::contention, ""};
    case 1317:
    case 1969:
    case 3024: return {errc::contention, "it was cancelled; the limit is options::statement_timeout"};
    case 1665:
      return {errc::database,
              "set binlog_format to ROW or MIXED: no statement may be logged as its text here"};
    case 3566:
    case 4501:
      return {errc::database,
              "a MySQL Router with connection_sharing=1 refuses what rowlock's statements need; set it to 0 "
              "for the "
              "route that rowlock uses"};
    case 1785:
      return {errc::database,
              "with GTIDs no transaction may write to a MEMORY table, as rowlock_marker is one; run on the "
              "primary: ALTER TABLE rowlock_marker ENGINE = InnoDB"};
    case 3098:
      return {errc::database,
              "a replication group accepts no write to a MEMORY table, as rowlock_marker is one; run on the "
              "primary: ALTER TABLE rowlock_marker ENGINE = InnoDB"};
    case 1049:
      return {errc::not_migrated,
              "create the database, or name another one in the URL, then run: rowlock migrate up"};
    default: return {errc::database, ""};
  }
}

// An unknown column, or an unknown table.
bool names_a_missing_object(unsigned number) {
  return number == 1054 || number == 1109 || number == 1146;
}

meaning meaning_of_missing(std::string_view said, std::string_view doing, const sql_catalog& catalog) {
  if (!names_rowlocks_own(said, catalog)) return {errc::database, check_the_triggers};
  if (is_of_migration(doing)) return {errc::schema, verify_the_schema};
  return {errc::not_migrated, "rowlock's tables are missing or too old here; run: rowlock migrate up"};
}

// Whether the commit may have succeeded nevertheless: the statement was killed, or the commit itself failed.
bool may_follow_a_commit(unsigned number) {
  switch (number) {
    case 1180:  // an error during COMMIT
    case 1317:  // KILL QUERY
    case 1969:  // max_statement_time
    case 3024:
    // A member that leaves its group gives this answer to every commit that waits for the group, although the
    // other members may already have the transaction and commit it.
    case 3101: return true;
    default: return false;
  }
}

// Without the statement, which SOCI's what() includes.
std::string said_by(const std::exception& cause) {
  const auto* failure = dynamic_cast<const soci::soci_error*>(&cause);
  return failure ? failure->get_error_message() : cause.what();
}

// What may be missing in the URL. The server does not say whether the password is wrong, or encryption is missing.
std::string_view login_advice(unsigned number, const mysql_endpoint& endpoint) {
  const bool may_be_the_password = number == 1045;
  if (!may_be_the_password && number != 2061 && number != 3159) return {};
  if (!endpoint.may_encrypt()) {
    return may_be_the_password
               ? "check the user's name and password; if the user may connect only with TLS, add ssl_ca=FILE "
                 "to the URL, the file of the authority that signed the server's certificate"
               : "add ssl_ca=FILE to the URL, the file of the authority that signed the server's "
                 "certificate: "
                 "this server takes the login only with TLS";
  }
  if (!may_be_the_password || endpoint.has_certificate()) return {};
  return "check the user's name and password; if the user needs a certificate of its own (REQUIRE X509), add "
         "ssl_cert=FILE and ssl_key=FILE to the URL";
}

std::string in_brackets(unsigned number) {
  return number == 0 ? std::string{} : fmt::format(" ({})", number);
}

std::string with_advice(std::string_view advice) {
  return advice.empty() ? std::string{} : fmt::format("; {}", advice);
}

}  // namespace

bool mysql_ran_too_long(std::string_view code) {
  return code == "1969" || code == "3024";
}

unsigned mysql_error_number(const std::exception& cause) {
  const auto* failure = dynamic_cast<const soci::mysql_soci_error*>(&cause);
  return failure ? failure->err_num_ : 0;
}

error mysql_error(const std::exception& cause, std::string_view doing, const sql_catalog& catalog) {
  if (const auto* known = dynamic_cast<const error*>(&cause)) return *known;
  const auto number = mysql_error_number(cause);
  if (number == 0) {
    // The client library or our own code gave up in the middle of an answer, so it is unknown what the server did.
    const bool of_the_connection = dynamic_cast<const soci::mysql_soci_error*>(&cause) != nullptr;
    return error(of_the_connection ? errc::unreachable : errc::internal,
                 fmt::format("{}: {}", doing, said_by(cause)), {}, true);
  }
  auto [code, advice] = names_a_missing_object(number) ? meaning_of_missing(said_by(cause), doing, catalog)
                                                       : meaning_of(number);
  if (code == errc::privilege && is_of_migration(doing)) advice = rights_to_migrate;
  const auto text = code == errc::unreachable
                        ? fmt::format("the connection to MySQL broke during {}: {}", doing, said_by(cause))
                        : fmt::format("MySQL refused {}: {}", doing, said_by(cause));
  return error(code, text + in_brackets(number) + with_advice(advice), std::to_string(number),
               code == errc::unreachable || may_follow_a_commit(number));
}

error mysql_connect_error(const std::exception& cause, const mysql_endpoint& endpoint, std::size_t place) {
  const auto number = mysql_error_number(cause);
  auto [code, advice] = meaning_of(number);
  if (names_a_missing_object(number) || code == errc::contention) code = errc::unreachable;
  if (advice.empty()) advice = login_advice(number, endpoint);
  // 1044: the user may not use this database. 2026 concerns a certificate, its file, or a server without TLS.
  const auto said = said_by(cause);
  const auto speaks_of = [&](const char* words) { return said.find(words) != std::string::npos; };
  if (number == 2026 && speaks_of("does not support it")) {
    advice = "this MySQL server offers no TLS, and the URL requires it (ssl_mode, ssl_ca)";
  }
  if (number == 2026 && (speaks_of("certificate") || speaks_of("Hostname") || speaks_of("No such file"))) {
    code = errc::authentication;
    advice =
        "ssl_ca in the URL must name the file of the authority that signed the server's certificate; with "
        "ssl_mode=VERIFY_IDENTITY, and with MariaDB's client library 3.4 and later always, the certificate "
        "must "
        "name the URL's host";
  }
  const auto where = endpoint.place_text(place);
  return error(code,
               fmt::format("cannot connect to MySQL{}{}: {}{}{}", where.empty() ? "" : " at ", where, said,
                           in_brackets(number), number == 1044 ? std::string{} : with_advice(advice)),
               number == 0 ? std::string{} : std::to_string(number));
}

}  // namespace rowlock::store
