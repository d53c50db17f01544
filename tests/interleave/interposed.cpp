// These functions replace those of the client libraries in this program, so that an actor stops before each statement,
// also inside the verbs of a store, and the stores stay as they are.
//
// PostgreSQL: a script is sent one statement at a time, in a transaction where the server would have made one.
// MariaDB and MySQL: a script is sent one statement at a time; its rows are those of the last statement that has any.
// The text of a block of MariaDB's gets places at which it stops inside the server (server_view.cpp).
// SQLite: a connection that waits for the write lock waits until another actor has moved.
#include "steps.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef ROWLOCK_TEST_POSTGRES
#include <libpq-fe.h>
#endif
#ifdef ROWLOCK_TEST_MYSQL
#if __has_include(<mysql.h>)
#include <mysql.h>
#else
#include <mariadb/mysql.h>
#endif
#endif
#ifdef ROWLOCK_TEST_SQLITE
#include <sqlite3.h>

#include <map>
#include <mutex>
#endif

namespace {

using rowlock::test::step_scheduler;

template <class Function>
Function* original(Function* /*its type*/, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_only_space(std::string_view text) {
  return text.find_first_not_of(" \n\t") == std::string_view::npos;
}

// Splits at each semicolon outside of quotes. In PostgreSQL a backslash before a quote counts in E'…' alone.
std::vector<std::string> statements_of(std::string_view script, bool is_mysql = false) {
  std::vector<std::string> all;
  std::string one;
  bool quoted = false, escapes = false;
  for (std::size_t at = 0; at < script.size(); ++at) {
    const char c = script[at];
    if (c == '\'' && !quoted) {
      quoted = true;
      escapes = is_mysql || (at > 0 && (script[at - 1] == 'E' || script[at - 1] == 'e'));
    } else if (c == '\'') {
      quoted = false;
    }
    if (c == ';' && !quoted) {
      if (!is_only_space(one)) all.push_back(one);
      one.clear();
      continue;
    }
    one += c;
    if (quoted && escapes && c == '\\' && at + 1 < script.size()) one += script[++at];
  }
  if (!is_only_space(one)) all.push_back(one);
  return all;
}

bool starts_with_word(std::string_view statement, std::string_view word) {
  const auto first = statement.find_first_not_of(" \n\t");
  return first != std::string_view::npos && statement.substr(first).starts_with(word);
}

}  // namespace

// The libraries must find these functions, though this project hides its own names.
#pragma GCC visibility push(default)

#ifdef ROWLOCK_TEST_POSTGRES

namespace {

void on_postgres(PGconn* connection) {
  step_scheduler::use_backend(std::to_string(PQbackendPID(connection)));
}

bool failed(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || status == PGRES_NONFATAL_ERROR;
}

PGresult* run_one_by_one(PGconn* connection, const std::vector<std::string>& statements) {
  static const auto execute = original(&PQexec, "PQexec");
  PGresult* last = nullptr;
  bool own_transaction = false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto& statement = statements[i];
    if (PQtransactionStatus(connection) == PQTRANS_IDLE && i + 1 < statements.size() &&
        !starts_with_word(statement, "BEGIN")) {
      PQclear(execute(connection, "BEGIN"));
      own_transaction = true;
    }
    step_scheduler::stop_before(statement);
    PQclear(last);
    last = execute(connection, statement.c_str());
    if (starts_with_word(statement, "COMMIT")) own_transaction = false;
    if (!failed(last)) continue;
    if (own_transaction) PQclear(execute(connection, "ROLLBACK"));
    return last;
  }
  if (own_transaction) {
    step_scheduler::stop_before("(commit)");
    PGresult* ended = execute(connection, "COMMIT");
    if (failed(ended)) std::swap(last, ended);
    PQclear(ended);
  }
  return last;
}

}  // namespace

extern "C" PGresult* PQexec(PGconn* connection, const char* query) {
  static const auto execute = original(&PQexec, "PQexec");
  if (!step_scheduler::on_actor()) return execute(connection, query);
  on_postgres(connection);
  const auto statements = statements_of(query);
  if (statements.size() > 1) return run_one_by_one(connection, statements);
  step_scheduler::stop_before(query);
  return execute(connection, query);
}

extern "C" PGresult* PQexecPrepared(PGconn* connection, const char* name, int count,
                                    const char* const* values, const int* lengths, const int* formats,
                                    int format) {
  static const auto execute = original(&PQexecPrepared, "PQexecPrepared");
  if (step_scheduler::on_actor()) on_postgres(connection);
  step_scheduler::stop_before(name);
  return execute(connection, name, count, values, lengths, formats, format);
}

extern "C" PGresult* PQexecParams(PGconn* connection, const char* query, int count, const Oid* types,
                                  const char* const* values, const int* lengths, const int* formats,
                                  int format) {
  static const auto execute = original(&PQexecParams, "PQexecParams");
  if (step_scheduler::on_actor()) on_postgres(connection);
  step_scheduler::stop_before(query);
  return execute(connection, query, count, types, values, lengths, formats, format);
}

#endif

#ifdef ROWLOCK_TEST_MYSQL

namespace {

constexpr std::string_view block = "BEGIN NOT ATOMIC";
constexpr std::string_view stop_here =
    "DO GET_LOCK(CAST(CONNECTION_ID() AS CHAR), 60); DO RELEASE_LOCK(CAST(CONNECTION_ID() AS CHAR)); ";

// Puts a stop before each statement of a block except the first, before which the client has stopped.
std::string with_stops(std::string_view text) {
  static constexpr std::array<std::string_view, 8> verbs = {"SELECT", "UPDATE", "INSERT",   "DELETE",
                                                            "SET",    "COMMIT", "ROLLBACK", "START"};
  std::string result;
  bool quoted = false, first = true, begins = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'') quoted = !quoted;
    if (quoted || !std::isalpha(static_cast<unsigned char>(c))) {
      if (c == ';' && !quoted) begins = true;
      result += c;
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    const auto found = text.substr(at, end - at);
    if (begins && std::ranges::find(verbs, found) != verbs.end()) {
      if (!first) result += stop_here;
      first = false;
    }
    begins = found == "THEN" || found == "ELSE" || found == "ATOMIC";
    result += found;
    at = end;
  }
  return result;
}

// Statements that touch no table: there is nothing to see between them and the next statement.
bool is_of_the_session(std::string_view statement) {
  return starts_with_word(statement, "SET @") || starts_with_word(statement, "SET SESSION") ||
         starts_with_word(statement, "START TRANSACTION");
}

// The rows of a script, which a later statement of the script may follow.
thread_local MYSQL_RES* kept_rows = nullptr;

void keep_rows(MYSQL_RES* rows) {
  if (kept_rows != nullptr) mysql_free_result(kept_rows);
  kept_rows = rows;
}

MYSQL_RES* rows_of(MYSQL* connection) {
  static const auto store = original(&mysql_store_result, "mysql_store_result");
  return store(connection);
}

}  // namespace

extern "C" int STDCALL mysql_real_query(MYSQL* connection, const char* query, unsigned long length) {
  static const auto execute = original(&mysql_real_query, "mysql_real_query");
  const std::string_view text{query, length};
  if (const auto at = text.find(block); at != std::string_view::npos) {
    // A statement to be prepared is itself a text in quotes, so each quote in it is doubled.
    const auto changed = std::string{text.substr(0, at)} + with_stops(text.substr(at));
    return execute(connection, changed.data(), changed.size());
  }
  if (!step_scheduler::on_actor()) return execute(connection, query, length);
  step_scheduler::use_backend(std::to_string(mysql_thread_id(connection)));
  const auto statements = statements_of(text, true);
  keep_rows(nullptr);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (i > 0) {
      if (auto* rows = rows_of(connection)) keep_rows(rows);
    }
    if (statements.size() == 1 || !is_of_the_session(statements[i])) {
      step_scheduler::stop_before(statements[i]);
    }
    const int failed = execute(connection, statements[i].data(), statements[i].size());
    if (failed != 0) return failed;
  }
  return 0;
}

extern "C" MYSQL_RES* STDCALL mysql_store_result(MYSQL* connection) {
  if (auto* rows = rows_of(connection)) return rows;
  return std::exchange(kept_rows, nullptr);
}

#endif

#ifdef ROWLOCK_TEST_SQLITE

namespace {

struct busy_handler {
  int (*ask)(void*, int) = nullptr;
  void* argument = nullptr;
  bool is_patient = false;  // waits without a limit, whatever the run says
};

thread_local bool in_exec = false;  // sqlite3_exec steps through its statements by itself

std::mutex busy_mutex;
std::map<sqlite3*, busy_handler> busy_handlers;

// An actor tries again when another one has moved. The time that it would wait does not matter.
int wait_for_others(void* connection, int attempts) {
  busy_handler own;
  {
    const std::lock_guard lock{busy_mutex};
    own = busy_handlers[static_cast<sqlite3*>(connection)];
  }
  if (!step_scheduler::on_actor()) return own.ask == nullptr ? 1 : own.ask(own.argument, attempts);
  return step_scheduler::wait_for_lock(attempts) || own.is_patient ? 1 : 0;
}

int set_busy_handler(sqlite3* connection, busy_handler handler) {
  static const auto set = original(&sqlite3_busy_handler, "sqlite3_busy_handler");
  {
    const std::lock_guard lock{busy_mutex};
    busy_handlers[connection] = handler;
  }
  return set(connection, &wait_for_others, connection);
}

}  // namespace

extern "C" int sqlite3_busy_handler(sqlite3* connection, int (*ask)(void*, int), void* argument) {
  return set_busy_handler(connection, {ask, argument, false});
}

extern "C" int sqlite3_busy_timeout(sqlite3* connection, int /*milliseconds*/) {
  return set_busy_handler(connection, {[](void*, int attempts) {
                                         sqlite3_sleep(1);
                                         return attempts < 10'000 ? 1 : 0;
                                       },
                                       nullptr, true});
}

extern "C" int sqlite3_step(sqlite3_stmt* statement) {
  static const auto step = original(&sqlite3_step, "sqlite3_step");
  if (!in_exec && sqlite3_stmt_busy(statement) == 0) step_scheduler::stop_before(sqlite3_sql(statement));
  return step(statement);
}

extern "C" int sqlite3_exec(sqlite3* connection, const char* sql, int (*use)(void*, int, char**, char**),
                            void* argument, char** problem) {
  static const auto execute = original(&sqlite3_exec, "sqlite3_exec");
  step_scheduler::stop_before(sql);
  in_exec = true;
  const int code = execute(connection, sql, use, argument, problem);
  in_exec = false;
  return code;
}

#endif

#pragma GCC visibility pop
