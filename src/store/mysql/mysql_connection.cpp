#include "store/mysql/mysql_connection.hpp"

#include "store/mysql/mysql_error.hpp"
#include "store/mysql/mysql_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace rowlock::store {

namespace {

// Makes the kernel detect that the server's host has vanished. A Unix socket does not need that, and the
// options have no effect on it.
void keep_alive(int socket, std::chrono::milliseconds limit) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  const int seconds = static_cast<int>(std::max<std::int64_t>(1, limit.count() / 1000));
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 4));
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Calls change(at, length) for each :name in the text. `change` may change the text there, and returns the
// position at which to continue.
template <class Change>
void at_each_use(std::string& sql, const std::string& name, Change change) {
  const auto word = ":" + name;
  for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word, at)) {
    const auto end = at + word.size();
    at = end == sql.size() || !is_name_char(sql[end]) ? change(at, word.size()) : end;
  }
}

// Statements that are sent together may have values of the same name, so their names get the statement's
// number: :name becomes :name_7.
std::string with_numbered_names(std::string sql, mysql_values& values, std::size_t number) {
  const auto suffix = fmt::format("_{}", number);
  for (auto& given : values) {
    at_each_use(sql, given.name, [&](std::size_t at, std::size_t length) {
      sql.insert(at + length, suffix);
      return at + length + suffix.size();
    });
    given.name += suffix;
  }
  return sql;
}

std::string with_literals(std::string sql, const mysql_values& values) {
  for (const auto& given : values) {
    const auto* literals = std::get_if<mysql_literals>(&given.value);
    if (literals == nullptr) continue;
    at_each_use(sql, given.name, [&](std::size_t at, std::size_t length) {
      sql.replace(at, length, literals->text);
      return at + literals->text.size();
    });
  }
  return sql;
}

// Rewrites a statement as the server's PREPARE takes it, with a question mark for each :name. `uses` receives
// each :name, in order.
std::string with_question_marks(std::string_view sql, std::vector<std::string>& uses) {
  std::string result;
  for (std::size_t at = 0; at < sql.size();) {
    auto end = at + 1;
    if (sql[at] == ':') {
      while (end < sql.size() && is_name_char(sql[end])) ++end;
      uses.emplace_back(sql.substr(at, end - at));
      result += '?';
    } else {
      result += sql[at];
    }
    at = end;
  }
  return result;
}

constexpr std::string_view was_rolled_back = "1213";

std::string quoted_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result.append(c == '\'' ? 2 : 1, c);
  return result + '\'';
}

}  // namespace

struct mysql_connection::driver {
  soci::session session;
  std::uint64_t affected_rows = 0;  // those of the last statement that was sent

  // The client libraries leave their socket open in a program that this process executes. Such a program
  // could use the session, and would keep it open after this process has ended.
  explicit driver(const std::string& connect_string) : session{soci::mysql, connect_string} {
    ::fcntl(socket(), F_SETFD, FD_CLOEXEC);
  }

  // Selects the URL's database again: init_connect may have selected another one.
  void use(const std::string& database) {
    if (mysql_select_db(connection(), database.c_str()) != 0) fail();
  }

  MYSQL* connection() { return static_cast<soci::mysql_session_backend*>(session.get_backend())->conn_; }
  int socket() { return static_cast<int>(connection()->net.fd); }

  // SOCI has read only the result of a script's first statement, `rows`. Reads the results of the others, and
  // returns the rows of the last statement that has any.
  mysql_rows read_to_the_end(mysql_rows rows) {
    affected_rows = mysql_affected_rows(connection());
    int next = -1;
    while ((next = mysql_next_result(connection())) == 0) {
      if (auto* more = mysql_store_result(connection())) {
        rows = mysql_rows{more};
      } else if (mysql_errno(connection()) != 0) {
        fail();
      }
      affected_rows = mysql_affected_rows(connection());
    }
    if (next > 0) fail();
    return rows;
  }

  void allow_scripts() {
    if (mysql_set_server_option(connection(), MYSQL_OPTION_MULTI_STATEMENTS_ON) != 0) fail();
  }

  [[noreturn]] void fail() {
    throw soci::mysql_soci_error(mysql_error(connection()), static_cast<int>(mysql_errno(connection())));
  }
};

mysql_connection::mysql_connection(const mysql_endpoint& endpoint, const sql_catalog& catalog,
                                   std::chrono::milliseconds connect_timeout,
                                   std::chrono::milliseconds read_timeout, std::size_t place)
    : endpoint_{endpoint}, catalog_{catalog} {
  endpoint.check_files();
  try {
    driver_ = std::make_unique<driver>(endpoint.connect_string(connect_timeout, read_timeout, place));
    driver_->use(endpoint.database());
    driver_->allow_scripts();
  } catch (const std::exception& cause) {
    const auto problem = mysql_connect_error(cause, endpoint, place);
    throw error(problem.kind(), endpoint.scrub(problem.what()), problem.database_code());
  }
  // Another thread interrupts the connection through this descriptor.
  socket_ = made_fd(::fcntl(driver_->socket(), F_DUPFD_CLOEXEC, 3), "a second descriptor for the connection");
  keep_alive(socket_.get(), read_timeout.count() > 0 ? read_timeout : std::chrono::seconds{30});
}

mysql_connection::~mysql_connection() {
  // Closing properly could take as long as reading an answer.
  if (broken_) interrupt();
}

bool mysql_connection::is_behind_router() const noexcept {
  return mysql_thread_id(driver_->connection()) == 0;
}

std::optional<std::int64_t> mysql_connection::local_server() const {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return {};
  ucred server{};
  size = sizeof server;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) return 0;
  return server.pid;
}

// When the socket is closed, the kernel drops what it has not sent yet, so the server does not receive a
// statement that nobody waits for any more.
void mysql_connection::interrupt() noexcept {
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  ::shutdown(socket_.get(), SHUT_RDWR);
}

template <class Work>
auto mysql_connection::guarded(std::string_view doing, const Work& work) {
  check_usable(doing);
  try {
    return work();
  } catch (const std::exception& cause) {
    fail(cause, doing);
  }
}

// One round trip.
mysql_rows mysql_connection::ask(const std::string& sql, const mysql_values& values) {
  soci::statement statement{driver_->session};
  for (const auto& given : values) {
    if (const auto* text = std::get_if<std::string>(&given.value)) {
      statement.exchange(soci::use(*text, given.name));
    } else if (const auto* number = std::get_if<long long>(&given.value)) {
      statement.exchange(soci::use(*number, given.name));
    }
  }
  statement.alloc();
  statement.prepare(with_literals(sql, values));
  statement.define_and_bind();
  statement.execute(true);
  auto* backend = static_cast<soci::mysql_statement_backend*>(statement.get_backend());
  auto rows = driver_->read_to_the_end(mysql_rows{std::exchange(backend->result_, nullptr)});
  matched_ = static_cast<std::int64_t>(driver_->affected_rows);
  return rows;
}

mysql_rows mysql_connection::run(std::string_view doing, const std::string& sql, const mysql_values& values) {
  return guarded(doing, [&] {
    if (!one_by_one_) return ask(sql, values);
    mysql_rows rows;
    for (const auto& statement : split_statements(sql)) {
      if (auto more = ask(statement, values); more.is_result()) rows = std::move(more);
    }
    return rows;
  });
}

mysql_rows mysql_connection::read(const std::string& statement, const mysql_values& values) {
  return run(statement, catalog_[statement], values);
}

std::int64_t mysql_connection::write(const std::string& statement, const mysql_values& values) {
  run(statement, catalog_[statement], values);
  return matched_;
}

// Prepares a statement of the catalog on MariaDB, once, and returns the EXECUTE that runs it. MariaDB parses
// a prepared statement once, and takes expressions as its values, which MySQL does not. A script is prepared
// as one block: without that, the server spent a third of a hand-over's time on parsing.
const std::string& mysql_connection::prepared(const std::string& name, form as) {
  if (const auto known = prepared_.find(name); known != prepared_.end()) return known->second;
  std::vector<std::string> uses;
  auto sql = with_question_marks(catalog_[name], uses);
  if (as == form::block) sql = fmt::format("BEGIN NOT ATOMIC\n{};\nEND", sql);
  execute(name, fmt::format("PREPARE rowlock_{} FROM {}", name, quoted_text(sql)));
  return prepared_[name] = fmt::format("EXECUTE rowlock_{} USING {}", name, fmt::join(uses, ", "));
}

std::int64_t mysql_connection::write_prepared(const std::string& statement, const mysql_values& values) {
  run(statement, prepared(statement, form::statement), values);
  return matched_;
}

mysql_rows mysql_connection::run_transaction(std::string_view doing, const std::string& sql,
                                             const mysql_values& values) {
  try {
    return run(doing, sql, values);
  } catch (const error& failure) {
    rollback();
    if (failure.database_code() == mysql_row_is_locked) return {};
    throw;
  } catch (...) {
    rollback();
    throw;
  }
}

mysql_rows mysql_connection::read_transaction(const std::string& script, const mysql_values& values) {
  return run_transaction(script, catalog_[script], values);
}

mysql_rows mysql_connection::read_prepared(const std::string& script, const mysql_values& values) {
  return run_transaction(script, is_mariadb_ ? prepared(script, form::block) : catalog_[script], values);
}

std::optional<mysql_rows> mysql_connection::read_prepared(const std::string& begin, const std::string& script,
                                                          const mysql_values& values) {
  const auto& rest = is_mariadb_ ? prepared(script, form::block) : catalog_[script];
  try {
    return run_transaction(script, fmt::format("{};\n{}", catalog_[begin], rest), values);
  } catch (const error& failure) {
    // Only this script says whether it has its row. What ran too long otherwise may have been the COMMIT.
    if (begin != "take_hot_row" || !mysql_ran_too_long(failure.database_code()) || broken_) throw;
    auto taken = read("hot_row_taken");
    if (taken.next() && taken.boolean(0)) throw;
    return {};
  }
}

std::int64_t mysql_connection::last_insert_id() {
  return guarded("last_insert_id", [&] {
    long long id = 0;
    driver_->session.get_last_insert_id("", id);
    return static_cast<std::int64_t>(id);
  });
}

void mysql_connection::execute(std::string_view doing, const std::string& sql) {
  run(doing, sql, {});
}

mysql_rows mysql_connection::send(std::string_view doing, std::string_view before,
                                  std::span<const mysql_statement> statements, std::string_view after,
                                  waiting how) {
  std::string sql;
  mysql_values values;
  const auto add = [&](std::string_view text) { sql += fmt::format("{}{}", sql.empty() ? "" : ";\n", text); };
  if (!before.empty()) add(catalog_[before]);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    auto own = statements[i].values;
    auto text = with_numbered_names(catalog_[statements[i].statement], own, i);
    add(how == waiting::never && is_mariadb_ ? "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " + text
                                             : text);
    values.insert(values.end(), own.begin(), own.end());
  }
  if (!after.empty()) add(catalog_[after]);
  return run(doing, sql, values);
}

void mysql_connection::rollback() noexcept {
  if (broken_) return;
  try {
    execute("rollback", "ROLLBACK");
  } catch (const std::exception& failure) {
    // A cluster that has already rolled the transaction back answers with this error.
    const auto* said = dynamic_cast<const error*>(&failure);
    if (said && said->database_code() == was_rolled_back) return;
    // The transaction ends with the connection.
    break_connection();
  }
}

void mysql_connection::break_connection() noexcept {
  broken_ = true;
  interrupt();
}

void mysql_connection::check_usable(std::string_view doing) const {
  if (broken_) {
    throw error(errc::unreachable, fmt::format("{}: the connection to MySQL broke before", doing));
  }
}

void mysql_connection::fail(const std::exception& cause, std::string_view doing) {
  // An error without a number comes in the middle of an answer, so the connection may be out of step with the
  // server. The connection is broken first, before anything needs memory.
  if (mysql_error_number(cause) == 0) break_connection();
  const auto problem = mysql_error(cause, doing, catalog_);
  if (problem.code() == errc::unreachable) break_connection();
  throw error(problem.kind(), endpoint_.scrub(problem.what()), problem.database_code(),
              problem.outcome_unknown());
}

}  // namespace rowlock::store
