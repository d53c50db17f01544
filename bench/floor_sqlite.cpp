#include "bench/floor.hpp"
#include "bench/wal_index.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>

namespace rowlock::bench {

namespace {

struct close_database {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct finalize_statement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using database_handle = std::unique_ptr<sqlite3, close_database>;
using statement_handle = std::unique_ptr<sqlite3_stmt, finalize_statement>;

constexpr auto busy_timeout_ms = 60'000;

[[noreturn]] void fail(sqlite3* database, const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {} (SQLite code {})", what, sqlite3_errmsg(database),
                                       sqlite3_extended_errcode(database)));
}

void execute(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(database, sql);
}

database_handle open_file(const std::string& path) {
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  database_handle database{raw};
  if (code != SQLITE_OK) fail(raw, path);
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  execute(raw, "PRAGMA synchronous = FULL");
  return database;
}

statement_handle prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) fail(database, sql);
  return statement_handle{statement};
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return bytes == nullptr
             ? std::string{}
             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

class sqlite_connection final : public floor_connection {
 public:
  sqlite_connection(const std::string& path, const std::string& table, int row)
      : database_{open_file(path)},
        update_{prepare(database_.get(), "UPDATE " + table + " SET owner = owner + 1 WHERE name = ?")},
        insert_{prepare(database_.get(), "INSERT INTO " + table + " (name, owner) VALUES (?, 0)")},
        delete_{prepare(database_.get(), "DELETE FROM " + table + " WHERE name = ?")} {
    sqlite3_bind_int(update_.get(), 1, row);
    sqlite3_bind_int(insert_.get(), 1, passing_row(row));
    sqlite3_bind_int(delete_.get(), 1, passing_row(row));
  }

  // Outside of a transaction each statement commits by itself, and takes the write lock before it reads.
  void update() override { step(update_.get()); }

  void insert_and_delete() override {
    step(insert_.get());
    step(delete_.get());
    require_one_row(sqlite3_changes(database_.get()));
  }

  void update_together(int rows) override {
    execute(database_.get(), "BEGIN IMMEDIATE");
    for (int row = 0; row < rows; ++row) {
      sqlite3_bind_int(update_.get(), 1, row);
      update();
    }
    execute(database_.get(), "COMMIT");
  }

 private:
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(database_.get(), "a statement of the floor");
    sqlite3_reset(statement);
  }

  database_handle database_;
  statement_handle update_;
  statement_handle insert_;
  statement_handle delete_;
};

class sqlite_floor final : public floor_database {
 public:
  explicit sqlite_floor(const plan& plan)
      : path_{plan.url.substr(std::string_view{"sqlite:"}.size())},
        prefix_{plan.settings.prefix},
        table_{prefix_ + "bench_floor"},
        database_{open_file(path_)} {
    execute(database_.get(), "DROP TABLE IF EXISTS " + table_);
    execute(database_.get(),
            "CREATE TABLE " + table_ + " (name INTEGER PRIMARY KEY, owner INTEGER NOT NULL)");
    execute(database_.get(),
            fmt::format("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                        "INSERT INTO {} SELECT i, 0 FROM n",
                        floor_rows - 1, table_));
  }

  ~sqlite_floor() override {
    if (!database_) return;
    sqlite3_exec(database_.get(), ("DROP TABLE IF EXISTS " + table_).c_str(), nullptr, nullptr, nullptr);
  }

  std::unique_ptr<floor_connection> connect(int row) override {
    return std::make_unique<sqlite_connection>(path_, table_, row % floor_rows);
  }

  std::shared_ptr<void> open_snapshot() override {
    std::shared_ptr<sqlite3> database = open_file(path_);
    execute(database.get(), "BEGIN");
    execute(database.get(), "SELECT count(*) FROM " + table_);  // takes the snapshot
    return database;
  }

  std::string durability() override {
    return fmt::format("SQLite {}, journal_mode={}, synchronous={}, page_size={}", sqlite3_libversion(),
                       pragma("journal_mode"), pragma("synchronous") == "2" ? "FULL" : pragma("synchronous"),
                       pragma("page_size"));
  }

  std::int64_t activity() override { return read_wal_index(path_).commits; }
  std::string activity_name() override { return "committed write transactions, by the WAL index"; }

  std::int64_t rows_written() override {
    std::set<std::string> now = all_rows();
    if (read_once_) {
      // A changed row counts as removed in its old form and added in its new one.
      std::int64_t removed = 0;
      std::int64_t added = 0;
      for (const std::string& row : rows_) removed += now.contains(row) ? 0 : 1;
      for (const std::string& row : now) added += rows_.contains(row) ? 0 : 1;
      written_ += std::max(removed, added);
    }
    read_once_ = true;
    rows_ = std::move(now);
    return written_;
  }
  void drop_remains() override {
    database_.reset();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + end);
  }

  std::string rows_written_name() override { return "rows whose content differs after a renewal"; }

 private:
  std::string pragma(const std::string& name) {
    statement_handle statement = prepare(database_.get(), "PRAGMA " + name);
    sqlite3_step(statement.get());
    return column_text(statement.get(), 0);
  }

  // Every row of rowlock's tables, as "table|value|value…", in one snapshot.
  std::set<std::string> all_rows() {
    std::set<std::string> rows;
    execute(database_.get(), "BEGIN");
    statement_handle tables = prepare(database_.get(),
                                      "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                      "substr(name, 1, length(?1)) = ?1 AND name <> ?2");
    sqlite3_bind_text(tables.get(), 1, prefix_.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_text(tables.get(), 2, table_.c_str(), -1, SQLITE_STATIC);
    while (sqlite3_step(tables.get()) == SQLITE_ROW) {
      std::string table = column_text(tables.get(), 0);
      statement_handle select = prepare(database_.get(), "SELECT * FROM " + table);
      while (sqlite3_step(select.get()) == SQLITE_ROW) {
        std::string row = table;
        for (int i = 0; i < sqlite3_column_count(select.get()); ++i)
          row += '|' + column_text(select.get(), i);
        rows.insert(std::move(row));
      }
    }
    tables.reset();
    execute(database_.get(), "COMMIT");
    return rows;
  }

  std::string path_;
  std::string prefix_;
  std::string table_;
  database_handle database_;
  bool read_once_ = false;
  std::int64_t written_ = 0;
  std::set<std::string> rows_;
};

}  // namespace

std::unique_ptr<floor_database> open_sqlite_floor(const plan& plan) {
  return std::make_unique<sqlite_floor>(plan);
}

}  // namespace rowlock::bench
