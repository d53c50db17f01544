#include "store/open.hpp"
#include "support/fixture_pool.hpp"
#include "support/roles.hpp"
#include "support/sql_fixture.hpp"
#include "support/store_fixture.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace rowlock::test {

namespace {

std::string with_user(std::string url, const std::string& name) {
  const auto user = url.find("//") + 2;
  return url.replace(user, url.find('@', user) - user, name);
}

std::string server_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES_URL");
  if (!url || !*url) {
    throw std::runtime_error(
        "ROWLOCK_TEST_POSTGRES_URL is not set: "
        "run under scripts/with-postgres, or leave PostgreSQL out with --stores=memory,sqlite");
  }
  return url;
}

// Settings that a role may have for its sessions. A statement that relies on the defaults fails under them. The
// statement_timeout also limits the statement that sets ours, which takes milliseconds on a busy machine.
constexpr std::string_view hostile_settings[] = {"array_nulls = off",
                                                 "standard_conforming_strings = off",
                                                 "DateStyle = 'SQL, DMY'",
                                                 "IntervalStyle = sql_standard",
                                                 "TimeZone = 'Asia/Kathmandu'",
                                                 "bytea_output = escape",
                                                 "extra_float_digits = -15",
                                                 "client_encoding = LATIN1",
                                                 "client_min_messages = debug1",
                                                 "default_transaction_isolation = serializable",
                                                 "default_transaction_deferrable = on",
                                                 "synchronous_commit = off",
                                                 "statement_timeout = '200ms'",
                                                 "lock_timeout = '1ms'",
                                                 "idle_in_transaction_session_timeout = '1ms'",
                                                 "transform_null_equals = on",
                                                 "xmloption = document",
                                                 "exit_on_error = on",
                                                 "enable_indexscan = off",
                                                 "enable_nestloop = off",
                                                 "plan_cache_mode = force_custom_plan",
                                                 "jit = on",
                                                 "jit_above_cost = 0"};

// This URL bypasses the pooler, if there is one (scripts/with-pgbouncer).
std::string direct_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES_DIRECT_URL");
  return url ? url : "";
}

bool asked_to_be_hostile() {
  const char* set = std::getenv("ROWLOCK_TEST_HOSTILE_SETTINGS");
  return set && std::string_view{set} == "1";
}

// A connection independent of the store's.
class side_connection {
 public:
  explicit side_connection(const std::string& url = server_url()) : handle_(PQconnectdb(url.c_str())) {
    if (PQstatus(handle_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(handle_));
    PQsetNoticeProcessor(
        handle_, [](void*, const char*) {}, nullptr);
  }
  ~side_connection() { PQfinish(handle_); }
  side_connection(const side_connection&) = delete;
  side_connection& operator=(const side_connection&) = delete;

  // Returns the number of rows.
  int run(const std::string& sql, std::initializer_list<std::string> parameters) {
    return PQntuples(rows_of(sql, parameters).get());
  }
  // The first column of the first row.
  std::string value(const std::string& sql, std::initializer_list<std::string> parameters = {}) {
    return PQgetvalue(rows_of(sql, parameters).get(), 0, 0);
  }
  void run_script(const std::string& sql) { checked(PQexec(handle_, sql.c_str())); }
  bool is_connected() const { return PQstatus(handle_) == CONNECTION_OK; }

 private:
  using result = std::shared_ptr<PGresult>;

  result rows_of(const std::string& sql, std::initializer_list<std::string> parameters) {
    std::vector<const char*> values;
    for (const auto& value : parameters) values.push_back(value.c_str());
    return checked(PQexecParams(handle_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                                nullptr, nullptr, 0));
  }
  result checked(PGresult* raw) {
    result owned{raw, PQclear};
    const auto status = PQresultStatus(raw);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
      throw std::runtime_error(PQerrorMessage(handle_));
    }
    return owned;
  }

  PGconn* handle_;
};

// The tables of a fixture, in a schema of their own if roles use them.
class postgres_tables {
 public:
  postgres_tables() {
    if (has_roles_) {
      migrate_as_role();
    } else {
      migrate(embedded::postgres_migrations(), prefix_,
              [this](const std::string& sql) { side_.run_script(sql); });
    }
    add_triggers("postgres", prefix_, [this](const std::string& sql) { side_.run_script(sql); });
    if (is_hostile_) make_hostile_role();
  }
  ~postgres_tables() {
    try {
      drop_everything();
    } catch (const std::exception&) {
      // The server may be gone, and its tables with it.
    }
  }
  postgres_tables(const postgres_tables&) = delete;
  postgres_tables& operator=(const postgres_tables&) = delete;

  // See fixture_pool.
  void note_structure() {
    structure_ = structure();
    meta_ = side_.value("SELECT to_json(m) FROM " + prefix_ + "meta AS m");
  }
  bool is_reachable() const { return side_.is_connected(); }
  bool restore() {
    if (structure() != structure_ || is_in_use()) return false;
    const std::string columns{meta_columns};
    side_.run_script("SET LOCAL lock_timeout = '1s';" + emptying_script(prefix_) + "INSERT INTO " + prefix_ +
                     "meta (" + columns + ") SELECT " + columns +
                     " FROM json_populate_record(NULL::" + prefix_ + "meta, $json$" + meta_ + "$json$)");
    return true;
  }

  const std::string& prefix() const { return prefix_; }
  const std::string& schema() const { return schema_; }
  const std::string& own_schema() const { return own_schema_; }
  const std::string& role() const { return role_; }
  bool has_roles() const { return has_roles_; }
  bool is_hostile() const { return is_hostile_; }
  side_connection& side() { return side_; }

 private:
  // Changes with everything that a test can do to the tables, their columns, triggers, functions and rights, but not with
  // their rows.
  std::string structure() {
    return side_.value(
        "WITH ours AS (SELECT oid, xmin FROM pg_class WHERE relname LIKE $1) "
        "SELECT md5(string_agg(kind || ' ' || id || ' ' || version, ',' ORDER BY kind, id)) FROM ("
        "  SELECT 'class' AS kind, oid::text AS id, xmin::text AS version FROM ours"
        "  UNION ALL SELECT 'column', attrelid || '.' || attnum, xmin::text FROM pg_attribute"
        "    WHERE attrelid IN (SELECT oid FROM ours)"
        "  UNION ALL SELECT 'trigger', oid::text, xmin::text FROM pg_trigger"
        "    WHERE tgrelid IN (SELECT oid FROM ours)"
        "  UNION ALL SELECT 'policy', oid::text, xmin::text FROM pg_policy"
        "    WHERE polrelid IN (SELECT oid FROM ours)"
        "  UNION ALL SELECT 'function', oid::text, xmin::text FROM pg_proc WHERE proname LIKE $1"
        "  UNION ALL SELECT 'schema', oid::text, xmin::text FROM pg_namespace WHERE nspname LIKE $1"
        "  UNION ALL SELECT 'setting', setdatabase || '.' || setrole, xmin::text FROM pg_db_role_setting"
        "    WHERE setrole IN (SELECT oid FROM pg_roles WHERE rolname LIKE $1)) AS all_of_it",
        {prefix_ + "%"});
  }
  // Whether a statement of another session is under way, such as one that a client has left.
  bool is_in_use() {
    return side_.run(
               "SELECT 1 FROM pg_locks WHERE pid <> pg_backend_pid() AND relation IN "
               "(SELECT oid FROM pg_class WHERE relname LIKE $1)",
               {prefix_ + "%"}) > 0;
  }
  // Migrates in a schema of its own, as docs/operations.md, "Rights" says.
  void migrate_as_role() {
    side_.run_script("CREATE SCHEMA " + schema_ + "; SET search_path = " + schema_);
    for (const auto use : uses_of_roles()) {
      const auto role = role_name(prefix_, use);
      side_.run_script("CREATE ROLE " + role + " LOGIN; ALTER ROLE " + role +
                       " SET search_path = " + schema_);
    }
    // The application's own tables are not beside rowlock's, where the application's role may create none. The test
    // makes them.
    const auto application = role_name(prefix_, role_use::run);
    side_.run_script("CREATE SCHEMA " + own_schema_ + " AUTHORIZATION " + application +
                     "; ALTER DEFAULT PRIVILEGES IN SCHEMA " + own_schema_ + " GRANT ALL ON TABLES TO " +
                     application + "; ALTER ROLE " + application + " SET search_path = " + own_schema_ +
                     ", " + schema_);
    grant(role_use::migrate);
    side_connection owner{with_user(server_url(), role_name(prefix_, role_use::migrate))};
    migrate(embedded::postgres_migrations(), prefix_, [&](const std::string& sql) { owner.run_script(sql); });
    for (const auto use : {role_use::run, role_use::observe, role_use::operate}) grant(use);
  }
  void grant(role_use use) {
    for (const auto& one : grant_statements("postgres", role_name(prefix_, use), use, schema_, prefix_)) {
      side_.run_script(one);
    }
  }
  void make_hostile_role() {
    // Everybody may use the schema public. If two suites granted that at the same time, the server would refuse one of
    // them.
    auto script = "CREATE ROLE " + role_ + " LOGIN;";
    for (const auto table : rowlock_tables) {
      script += "GRANT ALL ON " + prefix_ + std::string{table} + " TO " + role_ + ";";
    }
    for (const auto setting : hostile_settings) {
      script += "ALTER ROLE " + role_ + " SET " + std::string{setting} + ";";
    }
    side_.run_script(script);
  }
  void drop_everything() {
    if (has_roles_) {
      side_.run_script("DROP SCHEMA " + schema_ + ", " + own_schema_ + " CASCADE");
      for (const auto use : uses_of_roles()) {
        const auto role = role_name(prefix_, use);
        side_.run_script("DROP OWNED BY " + role + "; DROP ROLE " + role);
      }
    }
    if (is_hostile_) side_.run_script("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
    side_.run_script(R"(DO $$
      DECLARE statement text;
      BEGIN
        FOR statement IN
          SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc WHERE proname LIKE ')" +
                     prefix_ + R"(%'
          UNION ALL SELECT format('DROP TABLE IF EXISTS %s CASCADE', oid::regclass) FROM pg_class
            WHERE relkind = 'r' AND relname LIKE ')" +
                     prefix_ + R"(%'
        LOOP EXECUTE statement; END LOOP;
      END $$)");
  }

  // A random prefix, so that it is never that of another test's tables, nor of those that a crashed run left behind.
  std::string prefix_ = "t" + model::id128::random().to_string().substr(0, 12) + "_";
  const bool has_roles_ = asked_for_roles();
  const bool is_hostile_ = asked_to_be_hostile();
  const std::string schema_ = prefix_ + "schema";          // the schema of the roles
  const std::string own_schema_ = prefix_ + "own_schema";  // the schema of the role that runs
  const std::string role_ = prefix_ + "role";
  side_connection side_;
  std::string structure_;
  std::string meta_;  // the row that the migrations leave, as JSON
};

fixture_pool<postgres_tables>& pool() {
  static fixture_pool<postgres_tables> all;
  return all;
}

class postgres_fixture final : public store_fixture {
 public:
  explicit postgres_fixture(std::shared_ptr<postgres_tables> tables) : tables_{std::move(tables)} {}

  bool can(capability what) const override { return direct_url().empty() || what != capability::backends; }

  std::unique_ptr<store::database> open() override { return store::open(url(), options()); }
  std::string url() const override {
    if (tables_->has_roles()) return with_user(server_url(), role_name(tables_->prefix(), role_use::run));
    return tables_->is_hostile() ? with_user(server_url(), tables_->role()) : server_url();
  }
  std::string observer_url() const override {
    if (!tables_->has_roles()) return url();
    const auto server = server_url();
    return server + (server.find('?') == std::string::npos ? '?' : '&') + "options=-csearch_path%3D" +
           tables_->own_schema() + ',' + tables_->schema();
  }
  store::store_options options() const override {
    store::store_options options;
    options.prefix = tables_->prefix();
    options.application = "contract";
    options.listen_url = direct_url();
    return options;
  }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override {
    tables_->side().run(
        "UPDATE " + tables_->prefix() +
            "lease SET expires_at = clock_timestamp() - $1::bigint * interval '1 microsecond' "
            "WHERE id = $2::uuid",
        {std::to_string(ago.count()), lease.to_string()});
  }
  void age(const std::string& name, std::chrono::microseconds unused_for) override {
    for (const std::string column : {"lock SET used_at", "permit SET granted_at"}) {
      tables_->side().run("UPDATE " + tables_->prefix() + column +
                              " = clock_timestamp() - $1::bigint * interval '1 microsecond' WHERE name = $2",
                          {std::to_string(unused_for.count()), name});
    }
  }

  void make_unknown(const std::string& name) override {
    tables_->side().run("UPDATE " + tables_->prefix() + "lock SET kind = 'later' WHERE name = $1", {name});
  }
  void delete_lock(const std::string& name) override {
    tables_->side().run("DELETE FROM " + tables_->prefix() + "lock WHERE name = $1", {name});
  }
  rival lock_row(const std::string& name) override {
    auto connection = transaction();
    connection->run("SELECT 1 FROM " + tables_->prefix() + "lock WHERE name = $1 FOR UPDATE", {name});
    return connection;
  }
  rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) override {
    auto connection = transaction();
    if (connection->run(open()->guard_sql(mode), {name, hold.to_string()}) == 0) return {};
    return connection;
  }
  rival stall_renewals() override {
    auto connection = transaction();
    connection->run_script("LOCK TABLE " + tables_->prefix() + "lease IN SHARE MODE");
    return connection;
  }

  bool is_blocked(const std::string& backend) override {
    return tables_->side().run("SELECT 1 WHERE cardinality(pg_blocking_pids($1::integer)) > 0",
                               {std::to_string(std::stol(backend))}) > 0;
  }

  void lose_marker() override { tables_->side().run_script("TRUNCATE " + tables_->prefix() + "marker"); }
  void change_identity() override {
    tables_->side().run_script("UPDATE " + tables_->prefix() + "meta SET identity = 'another'");
  }

 private:
  std::shared_ptr<side_connection> transaction() const {
    auto connection = std::make_shared<side_connection>();
    if (tables_->has_roles()) connection->run_script("SET search_path = " + tables_->schema());
    connection->run_script("BEGIN");
    // When a client has left, its backend keeps its row locks until it notices. A rollback releases them at once.
    auto* raw = connection.get();
    return {raw, [connection = std::move(connection)](side_connection* open) mutable {
              try {
                open->run_script("ROLLBACK");
              } catch (const std::exception&) {
                // The server has already ended the connection.
              }
              connection.reset();
            }};
  }

  const std::shared_ptr<postgres_tables> tables_;
};

}  // namespace

std::unique_ptr<store_fixture> make_postgres_fixture() {
  return std::make_unique<postgres_fixture>(std::make_shared<postgres_tables>());
}
std::unique_ptr<store_fixture> borrow_postgres_fixture() {
  return std::make_unique<postgres_fixture>(
      pool().borrow([] { return std::make_unique<postgres_tables>(); }));
}

}  // namespace rowlock::test
