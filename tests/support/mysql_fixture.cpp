#include "store/open.hpp"
#include "support/mysql_connection.hpp"
#include "support/roles.hpp"
#include "support/sql_fixture.hpp"
#include "support/store_fixture.hpp"

#include <cstdlib>
#include <string_view>

namespace rowlock::test {

namespace {

// The prefix is not the default one, so that a statement that forgets the prefix finds no table.
constexpr const char* prefix = "my_";

class mysql_fixture final : public store_fixture {
 public:
  explicit mysql_fixture(std::string name) : name_{std::move(name)} {
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
  ~mysql_fixture() override {
    try {
      side_.run("DROP DATABASE " + database_);
      if (!has_roles_) return;
      for (const auto use : uses_of_roles()) side_.run("DROP USER " + user_of(use));
    } catch (const std::exception&) {
      // The server may be gone, and its tables with it.
    }
  }

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
    const auto own = with_database(mysql_server_url(name_), database_);
    if (has_roles_) return url_of(role_use::run);
    return is_hostile_ ? as_ordinary(own) : own;
  }
  store::store_options options() const override {
    store::store_options options;
    options.prefix = prefix;
    options.application = "contract";
    return options;
  }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override {
    side_.run(put("UPDATE @lease SET expires_at = SYSDATE(6) - INTERVAL ? MICROSECOND WHERE id = UNHEX(?)"),
              {std::to_string(ago.count()), lease.to_string()});
  }
  void age(const std::string& name, std::chrono::microseconds unused_for) override {
    for (const std::string column : {"lock SET used_at", "permit SET granted_at"}) {
      side_.run(put("UPDATE @" + column + " = SYSDATE(6) - INTERVAL ? MICROSECOND WHERE name = ?"),
                {std::to_string(unused_for.count()), name});
    }
  }

  void make_unknown(const std::string& name) override {
    side_.run(put("UPDATE @lock SET kind = 'later' WHERE name = ?"), {name});
  }
  void delete_lock(const std::string& name) override {
    side_.run(put("DELETE FROM @lock WHERE name = ?"), {name});
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
    return !side_
                .run(
                    "SELECT 1 FROM information_schema.innodb_trx "
                    "WHERE trx_mysql_thread_id = ? AND trx_state = 'LOCK WAIT'",
                    {std::to_string(std::stol(backend))})
                .empty();
  }

  void lose_marker() override { side_.run(put("DELETE FROM @marker")); }
  void change_identity() override { side_.run(put("UPDATE @meta SET identity = 'another'")); }

 private:
  // @ stands for the prefix.
  static std::string put(std::string sql) { return sql.replace(sql.find('@'), 1, prefix); }

  std::string user_of(role_use use) const { return role_name(database_ + '_', use); }
  std::string url_of(role_use use) const {
    const auto whole = with_database(mysql_server_url(name_), database_);
    return "mysql://" + user_of(use) + ":right" + whole.substr(whole.find('@'));
  }
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
};

}  // namespace

std::unique_ptr<store_fixture> make_mysql_fixture(const std::string& name) {
  return std::make_unique<mysql_fixture>(name);
}

}  // namespace rowlock::test
