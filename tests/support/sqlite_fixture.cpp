#include "store/open.hpp"
#include "support/sql_fixture.hpp"
#include "support/sqlite_clock.hpp"
#include "support/store_fixture.hpp"
#include "support/temporary_folder.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace rowlock::test {

namespace {

constexpr std::string_view prefix = "rowlock_";

// A connection independent of the store's.
class side_connection {
 public:
  explicit side_connection(const std::string& path) {
    check(sqlite3_open(path.c_str(), &handle_));
    sqlite3_busy_timeout(handle_, 5'000);
  }
  ~side_connection() { sqlite3_close(handle_); }
  side_connection(const side_connection&) = delete;
  side_connection& operator=(const side_connection&) = delete;

  // Returns the number of rows. Parameters are bound as text.
  int run(const std::string& sql, std::initializer_list<std::string> parameters) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr));
    const std::shared_ptr<sqlite3_stmt> owner{statement, sqlite3_finalize};
    int index = 0;
    for (const auto& value : parameters) {
      check(sqlite3_bind_text(statement, ++index, value.data(), static_cast<int>(value.size()),
                              SQLITE_TRANSIENT));
    }
    int rows = 0;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) ++rows;
    check(code);
    return rows;
  }
  void run_script(const std::string& sql) {
    check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle_));
  }

  sqlite3* handle_ = nullptr;
};

class sqlite_fixture final : public store_fixture {
 public:
  sqlite_fixture() {
    side().run_script("PRAGMA journal_mode = WAL");
    migrate(embedded::sqlite_migrations(), prefix,
            [this](const std::string& sql) { side().run_script(sql); });
    add_triggers("sqlite", std::string{prefix}, [this](const std::string& sql) { side().run_script(sql); });
  }

  // SQLite has only one lock, that of the file: while a rival writes, all others wait.
  bool can(capability) const override { return false; }

  std::unique_ptr<store::database> open() override { return store::open(url(), options()); }
  std::string url() const override { return "sqlite:" + path(); }
  store::store_options options() const override {
    store::store_options options;
    options.application = "contract";
    return options;
  }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override {
    side().run(
        "UPDATE rowlock_lease "
        "SET expires_at = " +
            std::string{sqlite_now_us} + " - CAST(? AS INTEGER) WHERE id = ?",
        {std::to_string(ago.count()), lease.to_string()});
  }
  void age(const std::string& name, std::chrono::microseconds unused_for) override {
    for (const std::string column : {"rowlock_lock SET used_at", "rowlock_permit SET granted_at"}) {
      side().run("UPDATE " + column + " = " + sqlite_now_us + " - CAST(? AS INTEGER) WHERE name = ?",
                 {std::to_string(unused_for.count()), name});
    }
  }

  void make_unknown(const std::string& name) override {
    side().run("UPDATE rowlock_lock SET kind = 'later' WHERE name = ?", {name});
  }
  void delete_lock(const std::string& name) override {
    side().run("DELETE FROM rowlock_lock WHERE name = ?", {name});
  }
  rival lock_row(const std::string&) override { throw std::logic_error("SQLite locks no single row"); }
  rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) override {
    auto connection = transaction();
    if (connection->run(open()->guard_sql(mode), {name, hold.to_string()}) == 0) return {};
    return connection;
  }
  rival stall_renewals() override { return transaction(); }

  void lose_marker() override { side().run_script("DELETE FROM rowlock_marker"); }
  void change_identity() override { side().run_script("UPDATE rowlock_meta SET identity = 'another'"); }

 private:
  std::string path() const { return folder_.path() / "locks.db"; }
  side_connection& side() {
    if (!side_) side_ = std::make_unique<side_connection>(path());
    return *side_;
  }
  std::shared_ptr<side_connection> transaction() {
    auto connection = std::make_shared<side_connection>(path());
    connection->run_script("BEGIN IMMEDIATE");
    return connection;
  }

  temporary_folder folder_;
  std::unique_ptr<side_connection> side_;
};

}  // namespace

std::unique_ptr<store_fixture> make_sqlite_fixture() {
  return std::make_unique<sqlite_fixture>();
}

}  // namespace rowlock::test
