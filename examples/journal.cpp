#include "journal.hpp"

#ifdef EXAMPLE_MYSQL
#include "journal_mysql.hpp"
#endif

#include <rowlock/guard/pqxx.hpp>
#include <rowlock/guard/sqlite3.hpp>

#include <stdexcept>

namespace {

class postgres_journal : public journal {
 public:
  explicit postgres_journal(const std::string& url) : connection_{url} {}

  void create() override {
    run("CREATE TABLE quickstart_journal"
        " (id bigserial PRIMARY KEY, token bigint NOT NULL, worker text NOT NULL, line text NOT NULL)");
  }

  void drop() override { run("DROP TABLE IF EXISTS quickstart_journal, quickstart_migration"); }

  bool write(const rowlock::hold& hold, const std::string& worker, const std::string& line) override {
    pqxx::work work{connection_};
    try {
      rowlock::guard(work, hold);
    } catch (const rowlock::error& error) {
      if (error.code() == rowlock::errc::hold_lost) return false;  // work rolls back
      throw;
    }
    work.exec("INSERT INTO quickstart_journal (token, worker, line) VALUES (" + hold.token().to_string() +
              ", " + work.quote(worker) + ", " + work.quote(line) + ")");
    work.commit();
    return true;
  }

  std::vector<std::string> lines() override {
    pqxx::work work{connection_};
    std::vector<std::string> lines;
    for (const auto& row :
         work.exec("SELECT token || ' ' || worker || ' ' || line FROM quickstart_journal ORDER BY id")) {
      lines.emplace_back(row[0].c_str());
    }
    return lines;
  }

 private:
  void run(const char* sql) {
    pqxx::work work{connection_};
    work.exec(sql);
    work.commit();
  }

  pqxx::connection connection_;
};

class sqlite_journal : public journal {
 public:
  explicit sqlite_journal(const std::string& path) {
    if (sqlite3_open(path.c_str(), &connection_) != SQLITE_OK)
      throw std::runtime_error("cannot open " + path);
    sqlite3_busy_timeout(connection_, 5000);
  }
  ~sqlite_journal() override { sqlite3_close(connection_); }

  void create() override {
    run("CREATE TABLE quickstart_journal"
        " (id INTEGER PRIMARY KEY, token INTEGER NOT NULL, worker TEXT NOT NULL, line TEXT NOT NULL)");
  }

  void drop() override {
    run("DROP TABLE IF EXISTS quickstart_journal");
    run("DROP TABLE IF EXISTS quickstart_migration");
  }

  bool write(const rowlock::hold& hold, const std::string& worker, const std::string& line) override {
    run("BEGIN IMMEDIATE");
    try {
      rowlock::guard(connection_, hold);
    } catch (const rowlock::error& error) {
      run("ROLLBACK");
      if (error.code() == rowlock::errc::hold_lost) return false;
      throw;
    }
    run("INSERT INTO quickstart_journal (token, worker, line) VALUES (%lld, %Q, %Q)",
        static_cast<long long>(hold.token().value()), worker.c_str(), line.c_str());
    run("COMMIT");
    return true;
  }

  std::vector<std::string> lines() override {
    sqlite3_stmt* select = nullptr;
    sqlite3_prepare_v2(connection_,
                       "SELECT token || ' ' || worker || ' ' || line FROM quickstart_journal ORDER BY id", -1,
                       &select, nullptr);
    std::vector<std::string> lines;
    while (sqlite3_step(select) == SQLITE_ROW) {
      lines.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(select, 0)));
    }
    sqlite3_finalize(select);
    return lines;
  }

 private:
  // As printf; %Q is a quoted string.
  template <class... Value>
  void run(const char* format, Value... values) {
    char* sql = sqlite3_mprintf(format, values...);
    int result = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
    sqlite3_free(sql);
    if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(connection_));
  }

  sqlite3* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<journal> journal::open(const std::string& url) {
  if (url.starts_with("sqlite:")) return std::make_unique<sqlite_journal>(url.substr(7));
#ifdef EXAMPLE_MYSQL
  if (url.starts_with("mysql:") || url.starts_with("mariadb:")) return open_mysql_journal(url);
#endif
  return std::make_unique<postgres_journal>(url);
}
