#include "store/open.hpp"
#include "support/fixture_pool.hpp"
#include "support/mysql_connection.hpp"
#include "support/roles.hpp"
#include "support/sql_fixture.hpp"
#include "support/store_fixture.hpp"

#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

namespace rowlock::test {

namespace {

// The prefix is not the default one, so that a statement that forgets the prefix finds no table.
constexpr const char* prefix = "my_";

// @ stands for the prefix.
std::string put(std::string sql) {
  return sql.replace(sql.find('@'), 1, prefix);
}

// The database of a fixture.
class mysql_tables {
 public:
  explicit mysql_tables(std::string name) : name_{std::move(name)} {
    if (is_hostile_) {
      side_.run("SET GLOBAL init_connect = ?", {hostile_init_connect(name_) + hostile_to_later_versions()});
      side_.run(
          "CREATE USER IF NOT EXISTS ordinary@'%' IDENTIFIED BY 'ordinary';"
          "GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO ordinary@'%'");
      // init_connect has the rights of the user who connects.
      if (name_ == "mysql") side_.run("GRANT SESSION_VARIABLES_ADMIN ON *.* TO ordinary@'%'");
    }
    side_.run("CREATE DATABASE " + database_ + "; USE " + database_);
    side_.run("SET time_zone = '+00:00'");
    if (has_roles_) {
      migrate_as_role();
    } else {
      migrate(embedded::mysql_migrations(), prefix, [this](const std::string& sql) { side_.run(sql); });
    }
    add_triggers("mysql", prefix, [this](const std::string& sql) { side_.run(sql); });
  }
  ~mysql_tables() {
    try {
      side_.run("DROP DATABASE " + database_);
      if (!has_roles_) return;
      for (const auto use : uses_of_roles()) side_.run("DROP USER " + user_of(use));
    } catch (const std::exception&) {
      // The server may be gone, and its tables with it.
    }
  }
  mysql_tables(const mysql_tables&) = delete;
  mysql_tables& operator=(const mysql_tables&) = delete;

  // See fixture_pool.
  void note_structure() {
    structure_ = structure();
    meta_ =
        side_.value(put("SELECT CONCAT_WS(',', id, schema_version, min_library, epoch, token_floor, "
                        "QUOTE(identity), epoch_s, "
                        "skew_ms, recordings) FROM @meta"));
  }
  bool is_reachable() const { return mysql_ping(side_.handle()) == 0; }
  bool restore() {
    if (is_in_use() || structure() != structure_) return false;
    side_.run("SET SESSION innodb_lock_wait_timeout = 1;" + emptying_script(prefix) +
              put("INSERT INTO @meta (" + std::string{meta_columns} + ") VALUES (") + meta_ + ")");
    return true;
  }

  const std::string& name() const { return name_; }
  const std::string& database() const { return database_; }
  bool has_roles() const { return has_roles_; }
  bool is_hostile() const { return is_hostile_; }
  std::string url_of(role_use use) const {
    const auto whole = with_database(mysql_server_url(name_), database_);
    return "mysql://" + user_of(use) + ":right" + whole.substr(whole.find('@'));
  }
  mysql_connection& side() { return side_; }

 private:
  // Changes with everything that a test can do to the tables, their columns and triggers, but not with their rows.
  std::string structure() {
    std::string all;
    for (const auto& table : side_.run("SHOW TABLES")) {
      if (table.front() == put("@audit")) continue;  // shows its next number
      for (const auto& row : side_.run("SHOW CREATE TABLE `" + table.front() + "`")) all += row.back();
    }
    const std::string ours = " = '" + database_ + "'";
    for (const auto& row :
         side_.run("SELECT trigger_name, action_statement FROM information_schema.triggers "
                   "WHERE trigger_schema" +
                   ours +
                   " UNION ALL "
                   "SELECT routine_name, routine_definition FROM information_schema.routines "
                   "WHERE routine_schema" +
                   ours)) {
      all += row.front() + row.back();
    }
    return all;
  }
  // Whether another session still uses the database, such as one whose client has just left.
  bool is_in_use() {
    const auto others = "SELECT 1 FROM information_schema.processlist WHERE db = '" + database_ +
                        "' AND id <> CONNECTION_ID()";
    for (int looks = 0; looks < 20; ++looks) {
      if (side_.run(others).empty()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
  }
  std::string user_of(role_use use) const { return role_name(database_ + '_', use); }
  void migrate_as_role() {
    for (const auto use : uses_of_roles())
      side_.run("CREATE USER " + user_of(use) + " IDENTIFIED BY 'right'");
    grant(role_use::migrate);
    mysql_connection owner{url_of(role_use::migrate)};
    migrate(embedded::mysql_migrations(), prefix, [&](const std::string& sql) { owner.run(sql); });
    for (const auto use : {role_use::run, role_use::observe, role_use::operate}) grant(use);
  }
  void grant(role_use use) {
    for (const auto& one : grant_statements("mysql", user_of(use), use, database_, prefix)) side_.run(one);
  }

  // Settings that only some versions know; the other versions would refuse the connection.
  std::string hostile_to_later_versions() {
    std::string result;
    for (const std::string setting : {"innodb_snapshot_isolation", "max_tmp_session_space_usage"}) {
      if (!side_.run("SHOW VARIABLES LIKE '" + setting + "'").empty())
        result += ";SET SESSION " + setting + " = 1";
    }
    return result;
  }

  static bool asked_to_be_hostile() {
    const char* set = std::getenv("ROWLOCK_TEST_HOSTILE_SETTINGS");
    return set && std::string_view{set} == "1";
  }

  const std::string name_;
  const bool has_roles_ = asked_for_roles();
  const bool is_hostile_ = asked_to_be_hostile();
  // A random name, so that it is never that of another test's database, nor of one that a crashed run left behind.
  const std::string database_ = "t" + model::id128::random().to_string().substr(0, 12);
  mysql_connection side_{as_application(mysql_server_url(name_))};
  std::string structure_;
  std::string meta_;  // the values of the row that the migrations leave
};

fixture_pool<mysql_tables>& pool(const std::string& name) {
  static std::map<std::string, fixture_pool<mysql_tables>> all;
  return all[name];
}

class mysql_fixture final : public store_fixture {
 public:
  explicit mysql_fixture(std::shared_ptr<mysql_tables> tables) : tables_{std::move(tables)} {}

  bool can(capability what) const override {
    switch (what) {
      case capability::row_locks:
      case capability::targeted_wakeups:
      case capability::short_cuts:
      case capability::backends: return true;
      // InnoDB has no row lock that lets others change some columns.
      case capability::enqueue_beside_guard: return false;
    }
    return false;
  }

  std::unique_ptr<store::database> open() override { return store::open(url(), options()); }
  std::string url() const override {
    const auto own = with_database(mysql_server_url(tables_->name()), tables_->database());
    if (tables_->has_roles()) return tables_->url_of(role_use::run);
    return tables_->is_hostile() ? as_ordinary(own) : own;
  }
  store::store_options options() const override {
    store::store_options options;
    options.prefix = prefix;
    options.application = "contract";
    return options;
  }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override {
    tables_->side().run(
        put("UPDATE @lease SET expires_at = SYSDATE(6) - INTERVAL ? MICROSECOND WHERE id = UNHEX(?)"),
        {std::to_string(ago.count()), lease.to_string()});
  }
  void age(const std::string& name, std::chrono::microseconds unused_for) override {
    for (const std::string column : {"lock SET used_at", "permit SET granted_at"}) {
      tables_->side().run(put("UPDATE @" + column + " = SYSDATE(6) - INTERVAL ? MICROSECOND WHERE name = ?"),
                          {std::to_string(unused_for.count()), name});
    }
  }

  void make_unknown(const std::string& name) override {
    tables_->side().run(put("UPDATE @lock SET kind = 'later' WHERE name = ?"), {name});
  }
  void delete_lock(const std::string& name) override {
    tables_->side().run(put("DELETE FROM @lock WHERE name = ?"), {name});
  }
  rival lock_row(const std::string& name) override {
    auto connection = transaction();
    connection->run(put("SELECT 1 FROM @lock WHERE name = ? FOR UPDATE"), {name});
    return connection;
  }
  rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) override {
    auto connection = transaction();
    if (connection->run(open()->guard_sql(mode), {name, hold.to_string()}).empty()) return {};
    return connection;
  }
  rival stall_renewals() override {
    auto connection = transaction();
    connection->run(put("SELECT id FROM @lease LOCK IN SHARE MODE"));
    return connection;
  }

  bool is_blocked(const std::string& backend) override {
    return !tables_->side()
                .run(
                    "SELECT 1 FROM information_schema.innodb_trx "
                    "WHERE trx_mysql_thread_id = ? AND trx_state = 'LOCK WAIT'",
                    {std::to_string(std::stol(backend))})
                .empty();
  }

  void lose_marker() override { tables_->side().run(put("DELETE FROM @marker")); }
  void change_identity() override { tables_->side().run(put("UPDATE @meta SET identity = 'another'")); }

 private:
  std::shared_ptr<mysql_connection> transaction() const {
    auto connection = std::make_shared<mysql_connection>(as_application(url()));
    connection->run("BEGIN");
    // When a client has left, its connection keeps its row locks until the server notices. A rollback releases them at
    // once.
    auto* raw = connection.get();
    return {raw, [connection = std::move(connection)](mysql_connection* open) mutable {
              try {
                open->run("ROLLBACK");
              } catch (const std::exception&) {
                // The server has already ended the connection.
              }
              connection.reset();
            }};
  }

  const std::shared_ptr<mysql_tables> tables_;
};

}  // namespace

std::unique_ptr<store_fixture> make_mysql_fixture(const std::string& name) {
  return std::make_unique<mysql_fixture>(std::make_shared<mysql_tables>(name));
}
std::unique_ptr<store_fixture> borrow_mysql_fixture(const std::string& name) {
  return std::make_unique<mysql_fixture>(
      pool(name).borrow([&] { return std::make_unique<mysql_tables>(name); }));
}

}  // namespace rowlock::test
