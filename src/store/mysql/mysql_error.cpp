#include "store/mysql/mysql_error.hpp"

#include "store/driver_error.hpp"
#include "store/missing_object.hpp"
#include "store/rights.hpp"

#include <fmt/format.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace rowlock::store {

namespace {

struct meaning {
  errc code;
  std::string_view advice;
};

constexpr std::string_view cancelled = "it was cancelled; the limit is options::statement_timeout";
constexpr std::string_view router_shares =
    "a MySQL Router with connection_sharing=1 refuses what rowlock's statements need; "
    "set it to 0 for the route that rowlock uses";

// The error numbers from 2000 to 2999 are the client library's (only those that can occur are listed), all
// others are the server's.

// These errors mean that the connection is broken, or that none was made.
constexpr unsigned broken[] = {
    1040,  // too many connections
    1041,  // no memory for another connection
    1042,  // the server cannot find the name of our host
    1043,  // bad handshake
    1047,  // a Galera node that is not ready, or not in the primary component
    1053,  // the server shuts down
    1077, 1079, 1080, 1081,
    1129,  // the host is blocked
    1135,  // no thread for another connection
    1152,
    1153,  // packet too large
    1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1203, 1226,
    1927,  // the connection was killed
    2000,  // an answer that makes no sense, as Galera may give for a block of statements that it aborts
    2001,  // no socket
    2002, 2003, 2004, 2005, 2006,
    2008,  // the client library has no memory, and leaves the rest of an answer unread
    2012, 2013, 2014,
    2020,  // an answer larger than the client library takes
    2026,  // TLS
    2027, 2055,
    3032,  // offline_mode, by default the state of a member that its replication group has expelled
    3100,  // the member can neither certify nor wait: it has left its group, or the group has no majority
    3168, 3169,
    3781,  // a new primary has not applied in time what the former one committed
    3782,
    3796,  // group_replication_consistency: the member cannot catch up with its group now
    3797, 3798, 3799,
    4031,  // closed for being idle
    4081,  // closed for the memory that all connections take
    4082,  // closed for the memory that it takes
};

constexpr unsigned refused_login[] = {
    1045, 1130, 1131, 1132, 1133, 1251, 1524, 1698, 1820, 1862, 1873, 2054, 2058, 2059,
    2061,  // as when the client library may not send the password unencrypted (caching_sha2_password)
    3118,
    3159,  // require_secure_transport
    3955, 4151,
};

constexpr unsigned conflicts[] = {
    1020,
    1180,  // a commit that the cluster refused
    1205, 1213, 1614,
    3101,  // a commit that the replication group refused
    3572,
    4094,  // another member is being made the primary
};

constexpr std::pair<unsigned, meaning> with_advice_of_their_own[] = {
    {1044, {errc::privilege, rights_to_use_locks}},
    {1142, {errc::privilege, rights_to_use_locks}},
    {1143, {errc::privilege, rights_to_use_locks}},
    {1370, {errc::privilege, rights_to_use_locks}},
    {1227, {errc::privilege, rights_to_see_everything}},  // a right on the whole server, such as PROCESS
    {1036, {errc::read_only, "connect to the primary"}},  // innodb_read_only
    {1290, {errc::read_only, "connect to the primary"}},  // the server runs with --read-only
    {1792, {errc::read_only, "connect to the primary"}},
    {1836, {errc::read_only, "connect to the primary"}},
    {1874, {errc::read_only, "connect to the primary"}},
    {3989, {errc::read_only, "run: ALTER DATABASE … READ ONLY = 0"}},
    {1317, {errc::contention, cancelled}},
    {1969, {errc::contention, cancelled}},
    {3024, {errc::contention, cancelled}},
    {1665,
     {errc::database, "set binlog_format to ROW or MIXED: no statement may be logged as its text here"}},
    {3566, {errc::database, router_shares}},
    {4501, {errc::database, router_shares}},
    {1785,
     {errc::database,
      "with GTIDs no transaction may write to a MEMORY table, as rowlock_marker is one; "
      "run on the primary: ALTER TABLE rowlock_marker ENGINE = InnoDB"}},
    {3098,
     {errc::database,
      "a replication group accepts no write to a MEMORY table, as rowlock_marker is one; "
      "run on the primary: ALTER TABLE rowlock_marker ENGINE = InnoDB"}},
    {1049,
     {errc::not_migrated,
      "create the database, or name another one in the URL, then run: rowlock migrate up"}},
};

meaning meaning_of(unsigned number) {
  const auto is_one_of = [number](const auto& numbers) { return std::ranges::count(numbers, number) > 0; };
  if (is_one_of(broken)) return {errc::unreachable, ""};
  if (is_one_of(refused_login)) return {errc::authentication, ""};
  if (is_one_of(conflicts)) return {errc::contention, ""};
  const auto own =
      std::ranges::find(with_advice_of_their_own, number, [](const auto& one) { return one.first; });
  return own == std::end(with_advice_of_their_own) ? meaning{errc::database, ""} : own->second;
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

// Whether a statement that failed may have been committed nevertheless: it was killed, or its commit failed.
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

// The server's or the client library's text without the statement, which SOCI's what() includes.
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
               : "add ssl_ca=FILE to the URL, "
                 "the file of the authority that signed the server's certificate: "
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
    const bool of_the_connection = dynamic_cast<const soci::mysql_soci_error*>(&cause) != nullptr;
    if (!of_the_connection) return driver_error(cause, doing);
    return error(errc::unreachable, fmt::format("{}: {}", doing, said_by(cause)), {}, true);
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
  // 1044 means that the user may not use this database; its advice is left out below. 2026 concerns a
  // certificate, its file, or a server without TLS.
  const auto said = said_by(cause);
  const auto speaks_of = [&](const char* words) { return said.find(words) != std::string::npos; };
  if (number == 2026 && speaks_of("does not support it")) {
    advice = "this MySQL server offers no TLS, and the URL requires it (ssl_mode, ssl_ca)";
  }
  if (number == 2026 && (speaks_of("certificate") || speaks_of("Hostname") || speaks_of("No such file"))) {
    code = errc::authentication;
    advice =
        "ssl_ca in the URL must name the file of the authority that signed the server's certificate; "
        "with ssl_mode=VERIFY_IDENTITY, and with MariaDB's client library 3.4 and later always, "
        "the certificate must name the URL's host";
  }
  const auto where = endpoint.place_text(place);
  return error(code,
               fmt::format("cannot connect to MySQL{}{}: {}{}{}", where.empty() ? "" : " at ", where, said,
                           in_brackets(number), number == 1044 ? std::string{} : with_advice(advice)),
               number == 0 ? std::string{} : std::to_string(number));
}

}  // namespace rowlock::store
