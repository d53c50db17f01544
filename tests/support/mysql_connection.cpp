#include "support/mysql_connection.hpp"

#include <cctype>
#include <cstdlib>
#include <sstream>

namespace rowlock::test {

namespace {

// The parts of mysql://user:password@host:port,host:port/database. Escapes are not decoded: the tests use none.
struct url_parts {
  struct place {
    std::string host;
    unsigned port = 3306;

    std::string to_string() const { return host + ':' + std::to_string(port); }
  };
  std::string user, password, database;
  std::vector<place> places;

  explicit url_parts(const std::string& url) {
    const auto authority = url.find("://") + 3;
    const auto slash = url.find('/', authority);
    const auto at = url.find('@', authority);
    if (slash == std::string::npos || at == std::string::npos || at > slash) {
      throw std::runtime_error("not mysql://user@host/database: " + url);
    }
    const auto who = url.substr(authority, at - authority);
    user = who.substr(0, who.find(':'));
    if (user.size() < who.size()) password = who.substr(user.size() + 1);
    std::istringstream list{url.substr(at + 1, slash - at - 1)};
    for (std::string one; std::getline(list, one, ',');) {
      auto& added = places.emplace_back();
      added.host = one.substr(0, one.find(':'));
      if (added.host.size() == one.size()) continue;
      added.port = static_cast<unsigned>(std::stoul(one.substr(added.host.size() + 1)));
    }
    database = url.substr(slash + 1);
  }
  std::string to_string() const {
    std::string list;
    for (const auto& one : places) list += (list.empty() ? "" : ",") + one.to_string();
    return "mysql://" + user + ':' + password + '@' + list + '/' + database;
  }
};

}  // namespace

mysql_connection::mysql_connection(const std::string& url) : handle_{nullptr, &mysql_close} {
  const url_parts parts{url};
  for (std::size_t tried = 0; tried < parts.places.size(); ++tried) {
    const auto& place = parts.places[tried];
    handle_.reset(mysql_init(nullptr));
    mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(handle_.get(), place.host.c_str(), parts.user.c_str(), parts.password.c_str(),
                           parts.database.c_str(), place.port, nullptr, CLIENT_MULTI_STATEMENTS)) {
      if (parts.places.size() == 1 || value("SELECT @@GLOBAL.read_only") == "0") return;
    } else if (tried + 1 == parts.places.size()) {
      fail();
    }
  }
  throw mysql_failure{0, "none of these servers takes writes: " + url};
}

void mysql_connection::fail() const {
  throw mysql_failure{mysql_errno(handle_.get()), mysql_error(handle_.get())};
}

std::string mysql_connection::fill_in(const std::string& sql,
                                      const std::vector<std::string>& parameters) const {
  std::string filled;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const bool numbered =
        sql[i] == '$' && i + 1 < sql.size() && std::isdigit(static_cast<unsigned char>(sql[i + 1]));
    if (!numbered && sql[i] != '?') {
      filled += sql[i];
      continue;
    }
    const auto& value = parameters.at(numbered ? static_cast<std::size_t>(sql[++i] - '1') : next++);
    std::string escaped(value.size() * 2 + 1, '\0');
    escaped.resize(mysql_real_escape_string(handle_.get(), escaped.data(), value.data(),
                                            static_cast<unsigned long>(value.size())));
    filled += '\'' + escaped + '\'';
  }
  return filled;
}

mysql_connection::rows mysql_connection::run(const std::string& sql,
                                             std::initializer_list<std::string> parameters) {
  const auto text = parameters.size() == 0 ? sql : fill_in(sql, parameters);
  if (mysql_real_query(handle_.get(), text.data(), static_cast<unsigned long>(text.size())) != 0) fail();
  rows answer;
  for (;;) {
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result{mysql_store_result(handle_.get()),
                                                                          &mysql_free_result};
    if (result) {
      answer.clear();
      while (const MYSQL_ROW row = mysql_fetch_row(result.get())) {
        const auto* lengths = mysql_fetch_lengths(result.get());
        auto& fields = answer.emplace_back();
        for (unsigned column = 0; column < mysql_num_fields(result.get()); ++column) {
          fields.emplace_back(row[column] ? std::string{row[column], lengths[column]} : std::string{});
        }
      }
    } else if (mysql_errno(handle_.get()) != 0) {
      fail();
    }
    const int more = mysql_next_result(handle_.get());
    if (more > 0) fail();
    if (more < 0) return answer;
  }
}

std::string mysql_connection::value(const std::string& sql, std::initializer_list<std::string> parameters) {
  const auto answer = run(sql, parameters);
  return answer.empty() || answer[0].empty() ? std::string{} : answer[0][0];
}

std::string mysql_server_url(const std::string& store) {
  const std::string variable = store == "mysql" ? "ROWLOCK_TEST_MYSQL_URL" : "ROWLOCK_TEST_MARIADB_URL";
  const char* url = std::getenv(variable.c_str());
  if (!url || !*url) {
    throw std::runtime_error(variable + " is not set: run under scripts/with-" + store + ", or leave " +
                             store + " out with --stores=memory,sqlite,postgres");
  }
  return url;
}

std::string with_database(const std::string& url, const std::string& database) {
  url_parts parts{url};
  parts.database = database;
  return parts.to_string();
}

std::string as_ordinary(const std::string& url) {
  url_parts parts{url};
  parts.user = parts.password = "ordinary";
  return parts.to_string();
}

namespace {

// Settings that both servers know.
const std::string hostile_to_both =
    "SET SESSION completion_type = 'CHAIN', time_zone = '+09:30', div_precision_increment = 0,"
    " max_join_size = 1, sql_big_selects = 0, sql_select_limit = 1, sql_safe_updates = 1,"
    " sql_auto_is_null = 1, unique_checks = 0, foreign_key_checks = 0, group_concat_max_len = 4,"
    " max_sort_length = 64, sql_buffer_result = 1, big_tables = 1, low_priority_updates = 1,"
    " lc_messages = 'de_DE', timestamp = 1000000000;";

const std::string hostile_to_mariadb =
    "SET SESSION check_constraint_checks = 0, innodb_lock_wait_timeout = 0, lock_wait_timeout = 0,"
    " max_statement_time = 0.001, idle_transaction_timeout = 1, idle_write_transaction_timeout = 1,"
    " idle_readonly_transaction_timeout = 1, join_cache_level = 8, in_predicate_conversion_threshold = 2,"
    " old_mode = 'IGNORE_INDEX_ONLY_FOR_JOIN', query_cache_type = OFF, tmp_disk_table_size = 1024,"
    " optimizer_switch = 'derived_merge=off,semijoin=off,exists_to_in=off,"
    "index_condition_pushdown=off,mrr=on',"
    " sql_mode = 'ORACLE,NO_BACKSLASH_ESCAPES';";

const std::string hostile_to_mysql =
    "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1, max_execution_time = 1,"
    " tmp_table_size = 1024, max_heap_table_size = 16384, internal_tmp_mem_storage_engine = MEMORY,"
    " default_storage_engine = MEMORY, default_tmp_storage_engine = MyISAM, sql_require_primary_key = 1,"
    " sql_generate_invisible_primary_key = 1, explicit_defaults_for_timestamp = 0,"
    " windowing_use_high_precision = 0, session_track_transaction_info = 'CHARACTERISTICS',"
    " session_track_schema = 0, session_track_gtids = 'OWN_GTID', use_secondary_engine = FORCED,"
    " optimizer_switch = 'derived_merge=off,semijoin=off,materialization=off,index_condition_pushdown=off,"
    "mrr=on,mrr_cost_based=off,batched_key_access=on,prefer_ordering_index=off,subquery_to_derived=on',"
    " sql_mode = 'ANSI,HIGH_NOT_PRECEDENCE,NO_BACKSLASH_ESCAPES,NO_UNSIGNED_SUBTRACTION,"
    "PAD_CHAR_TO_FULL_LENGTH,TIME_TRUNCATE_FRACTIONAL';";

// This setting comes last, because the statements before it need the defaults.
const std::string hostile_transaction =
    "SET NAMES latin1;"
    "SET SESSION collation_database = utf16_bin, collation_connection = utf8mb3_unicode_ci;"
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY;"
    "SET SESSION autocommit = 0;"
    "USE information_schema;"
    "SET TRANSACTION READ ONLY;"
    "START TRANSACTION READ ONLY";

}  // namespace

std::string hostile_init_connect(const std::string& store) {
  return hostile_to_both + (store == "mysql" ? hostile_to_mysql : hostile_to_mariadb) + hostile_transaction;
}

std::string mysql_client_command(const std::string& store, const std::string& url) {
  const url_parts parts{url};
  const char* own = store == "mysql" ? std::getenv("ROWLOCK_TEST_MYSQL_CLIENT") : nullptr;
  // In the environment the password causes no warning. From 11.4 on, MariaDB's client warns if it verifies no
  // certificate, unless the command line says that it need not.
  return "MYSQL_PWD='" + parts.password + "' " +
         (own ? own : "mariadb --no-defaults --skip-ssl-verify-server-cert") +
         " --batch --raw --skip-column-names --host=" + parts.places.at(0).host +
         " --port=" + std::to_string(parts.places.at(0).port) + " --user=" + parts.user + ' ' +
         parts.database;
}

std::string as_application(const std::string& url) {
  url_parts parts{url};
  parts.user = parts.password = "application";
  return parts.to_string();
}

}  // namespace rowlock::test
