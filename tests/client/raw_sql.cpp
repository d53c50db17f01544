#include "client/raw_sql.hpp"

#ifdef ROWLOCK_TEST_POSTGRES
#include <rowlock/guard/libpq.hpp>
#endif
#ifdef ROWLOCK_TEST_SQLITE
#include <rowlock/guard/sqlite3.hpp>
#endif
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"

#include <rowlock/guard/mysql.hpp>
#endif

#include <stdexcept>

namespace rowlock::test {

namespace {

#ifdef ROWLOCK_TEST_POSTGRES
class raw_libpq final : public raw_sql {
 public:
  explicit raw_libpq(const std::string& url) : handle_(PQconnectdb(url.c_str()), &PQfinish) {
    if (PQstatus(handle_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(handle_.get()));
  }

  void run(const std::string& sql) override { ask(sql); }
  std::string value(const std::string& sql) override {
    const auto rows = ask(sql);
    return PQntuples(rows.get()) > 0 ? PQgetvalue(rows.get(), 0, 0) : "";
  }
  void guard(const hold& held) override { rowlock::guard(handle_.get(), held); }

 private:
  using answer = std::unique_ptr<PGresult, decltype(&PQclear)>;
  answer ask(const std::string& sql) {
    answer given{PQexec(handle_.get(), sql.c_str()), &PQclear};
    const auto status = PQresultStatus(given.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      throw std::runtime_error(PQerrorMessage(handle_.get()));
    }
    return given;
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> handle_;
};
#endif

#ifdef ROWLOCK_TEST_SQLITE
class raw_sqlite3 final : public raw_sql {
 public:
  explicit raw_sqlite3(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle_));
    sqlite3_busy_timeout(handle_, 10'000);
  }
  ~raw_sqlite3() override { sqlite3_close(handle_); }

  void run(const std::string& sql) override { value(sql); }
  std::string value(const std::string& sql) override {
    std::string first;
    const auto keep = [](void* into, int, char** columns, char**) {
      auto& kept = *static_cast<std::string*>(into);
      if (kept.empty() && columns[0] != nullptr) kept = columns[0];
      return 0;
    };
    if (sqlite3_exec(handle_, sql.c_str(), keep, &first, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle_));
    }
    return first;
  }
  void guard(const hold& held) override { rowlock::guard(handle_, held); }

 private:
  sqlite3* handle_ = nullptr;
};
#endif

#ifdef ROWLOCK_TEST_MYSQL
class raw_mysql final : public raw_sql {
 public:
  explicit raw_mysql(const std::string& url) : connection_{as_application(url)} {}

  void run(const std::string& sql) override { connection_.run(sql); }
  std::string value(const std::string& sql) override { return connection_.value(sql); }
  void guard(const hold& held) override { rowlock::guard(connection_.handle(), held); }

 private:
  mysql_connection connection_;
};
#endif

}  // namespace

std::unique_ptr<raw_sql> open_raw_sql(const store_fixture& fixture) {
  const auto url = fixture.url();
#ifdef ROWLOCK_TEST_POSTGRES
  if (url.starts_with("postgres")) return std::make_unique<raw_libpq>(url);
#endif
#ifdef ROWLOCK_TEST_SQLITE
  if (url.starts_with("sqlite:")) return std::make_unique<raw_sqlite3>(url.substr(7));
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (url.starts_with("mysql:")) return std::make_unique<raw_mysql>(url);
#endif
  throw std::logic_error("no driver speaks to \"" + url + "\"");
}

}  // namespace rowlock::test
