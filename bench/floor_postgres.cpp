#include "bench/floor.hpp"
#include "bench/server_usage.hpp"

#include "store/postgres/pqxx_compat.hpp"

#include <fmt/format.h>

namespace rowlock::bench {

namespace {

std::string quoted_name(const std::string& identifier) {
  return '"' + identifier + '"';
}

std::string postgres_table(const plan& plan, const std::string& of = "bench_floor") {
  std::string table = quoted_name(plan.settings.prefix + of);
  return plan.settings.schema.empty() ? table : quoted_name(plan.settings.schema) + "." + table;
}

class postgres_connection final : public floor_connection {
 public:
  postgres_connection(const plan& plan, int row) : connection_{plan.url}, work_{connection_}, row_{row} {
    work_.exec("SET synchronous_commit = on");
    connection_.prepare("update", "UPDATE " + postgres_table(plan) + " SET owner = $2 WHERE name = $1");
    connection_.prepare("insert", "INSERT INTO " + postgres_table(plan) + " (name, owner) VALUES ($1, $2)");
    connection_.prepare("delete", "DELETE FROM " + postgres_table(plan) + " WHERE name = $1");
  }

  // Each statement is a transaction of its own: one round trip and one durable commit.
  void update() override { update(row_); }

  void insert_and_delete() override {
    store::pqxx_compat::exec_prepared(work_, "insert", passing_row(row_), ++owner_);
    require_one_row(store::pqxx_compat::exec_prepared(work_, "delete", passing_row(row_)));
  }

  void update_together(int rows) override {
    work_.exec("BEGIN");
    for (int row = 0; row < rows; ++row) update(row);
    work_.exec("COMMIT");
  }

 private:
  void update(int row) { require_one_row(store::pqxx_compat::exec_prepared(work_, "update", row, ++owner_)); }
  static void require_one_row(const pqxx::result& done) { bench::require_one_row(done.affected_rows()); }

  pqxx::connection connection_;
  pqxx::nontransaction work_;
  int row_;
  int owner_ = 0;
};

struct postgres_snapshot {
  explicit postgres_snapshot(const plan& plan) : connection{plan.url}, work{connection} {
    work.exec("BEGIN ISOLATION LEVEL REPEATABLE READ");
    work.exec("SELECT 1");  // takes the snapshot
  }
  pqxx::connection connection;
  pqxx::nontransaction work;
};

class postgres_floor final : public floor_database {
 public:
  explicit postgres_floor(const plan& plan) : plan_{plan}, connection_{plan.url}, work_{connection_} {
    work_.exec("SET client_min_messages = warning");
    std::string table = postgres_table(plan_);
    work_.exec("DROP TABLE IF EXISTS " + table);
    work_.exec("CREATE TABLE " + table + " (name integer PRIMARY KEY, owner integer NOT NULL)");
    work_.exec(
        fmt::format("INSERT INTO {} SELECT n, 0 FROM generate_series(0, {}) n", table, floor_rows - 1));
    counts_statements_ = has_statement_statistics();
  }

  ~postgres_floor() override {
    try {
      work_.exec("DROP TABLE IF EXISTS " + postgres_table(plan_));
    } catch (const std::exception&) {
      // The connection is gone; the next bench drops the table.
    }
  }

  std::unique_ptr<floor_connection> connect(int row) override {
    return std::make_unique<postgres_connection>(plan_, row % floor_rows);
  }

  std::shared_ptr<void> open_snapshot() override { return std::make_shared<postgres_snapshot>(plan_); }

  std::string durability() override {
    std::string text = "PostgreSQL " + setting("server_version");
    for (const char* name :
         {"fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "commit_delay"}) {
      text += fmt::format(", {}={}", name, setting(name));
    }
    return text;
  }

  std::int64_t activity() override {
    ++own_;  // only the next reading counts this statement
    std::int64_t now = counts_statements_
                           ? number(
                                 "SELECT sum(s.calls) FROM pg_stat_statements s JOIN pg_database d "
                                 "ON d.oid = s.dbid WHERE d.datname = current_database()")
                           : number(
                                 "SELECT xact_commit + xact_rollback FROM pg_stat_database "
                                 "WHERE datname = current_database()");
    return now - (own_ - 1);
  }

  std::string activity_name() override {
    return counts_statements_ ? "statements, by pg_stat_statements"
                              : "transactions, by pg_stat_database (pg_stat_statements is not there)";
  }

  std::int64_t rows_written() override {
    std::string schema = plan_.settings.schema.empty() ? "schemaname = ANY (current_schemas(false))"
                                                       : "schemaname = " + work_.quote(plan_.settings.schema);
    return number(
        "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables WHERE " +
        schema + " AND left(relname, " + std::to_string(plan_.settings.prefix.size()) +
        ") = " + work_.quote(plan_.settings.prefix) + " AND relname <> " +
        work_.quote(plan_.settings.prefix + "bench_floor"));
  }

  void drop_remains() override { work_.exec("DROP TABLE IF EXISTS " + postgres_table(plan_, "migration")); }

  std::string rows_written_name() override { return "pg_stat_user_tables: inserted + updated + deleted"; }

  std::optional<pid_t> server_process() override {
    // Over the loopback and a Unix socket both ends have the same address, or none.
    const auto backend =
        work_.exec("SELECT pg_backend_pid(), inet_server_addr() IS NOT DISTINCT FROM inet_client_addr()");
    if (!backend[0][1].as<bool>()) return {};
    return parent_of_same_program(backend[0][0].as<pid_t>());
  }

  std::optional<std::int64_t> wal_bytes() override {
    return number("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint");
  }

  std::chrono::seconds counts_within() const override { return std::chrono::seconds{11}; }

 private:
  std::int64_t number(const std::string& query) { return work_.exec(query)[0][0].as<std::int64_t>(); }
  std::string setting(const std::string& name) {
    return work_.exec("SELECT current_setting(" + work_.quote(name) + ")")[0][0].c_str();
  }
  // The extension may have been created although the server did not load it at its start; then it only raises errors.
  bool has_statement_statistics() {
    return work_
        .exec(
            "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements') AND "
            "position('pg_stat_statements' IN current_setting('shared_preload_libraries')) > 0")[0][0]
        .as<bool>();
  }

  plan plan_;
  pqxx::connection connection_;
  pqxx::nontransaction work_;
  bool counts_statements_ = false;
  std::int64_t own_ = 0;
};

}  // namespace

std::unique_ptr<floor_database> open_postgres_floor(const plan& plan) {
  return std::make_unique<postgres_floor>(plan);
}

}  // namespace rowlock::bench
