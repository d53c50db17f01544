#include "store/open.hpp"
#include "support/sql_fixture.hpp"
#include "support/store_fixture.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <stdexcept>

namespace rowlock::test {

namespace {

std::string server_url() {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES_URL");
  if (!url || !*url) {
    throw std::runtime_error(
        "ROWLOCK_TEST_POSTGRES_URL is not set: run under scripts/with-postgres, or leave PostgreSQL out with "
        "--stores=memory,sqlite");
  }
  return url;
}

// A connection beside the store's own.
class side_connection {
 public:
  side_connection() : handle_(PQconnectdb(server_url().c_str())) {
    if (PQstatus(handle_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(handle_));
    PQsetNoticeProcessor(
        handle_, [](void*, const char*) {}, nullptr);
  }
  ~side_connection() { PQfinish(handle_); }
  side_connection(const side_connection&) = delete;
  side_connection& operator=(const side_connection&) = delete;

  // Returns the number of rows.
  int run(const std::string& sql, std::initializer_list<std::string> parameters) {
    std::vector<const char*> values;
    for (const auto& value : parameters) values.push_back(value.c_str());
    return rows_of(PQexecParams(handle_, sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(),
                                nullptr, nullptr, 0));
  }
  void run_script(const std::string& sql) { rows_of(PQexec(handle_, sql.c_str())); }

 private:
  int rows_of(PGresult* result) {
    const std::shared_ptr<PGresult> owner{result, PQclear};
    const auto status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
      throw std::runtime_error(PQerrorMessage(handle_));
    }
    return PQntuples(result);
  }

  PGconn* handle_;
};

class postgres_fixture final : public store_fixture {
 public:
  postgres_fixture() {
    migrate(embedded::postgres_migrations(), prefix_,
            [this](const std::string& sql) { side_.run_script(sql); });
  }
  ~postgres_fixture() override {
    try {
      drop_everything();
    } catch (const std::exception&) {
      // The server may be gone, and with it the tables.
    }
  }

  bool can(capability) const override { return true; }

  std::unique_ptr<store::database> open() override { return store::open(url(), options()); }
  std::string url() const override { return server_url(); }
  store::store_options options() const override {
    store::store_options options;
    options.prefix = prefix_;
    options.application = "contract";
    return options;
  }

  void expire(const model::lease_id& lease, std::chrono::microseconds ago) override {
    side_.run("UPDATE " + prefix_ +
                  "lease SET expires_at = clock_timestamp() - $1::bigint * interval '1 microsecond' "
                  "WHERE id = $2::uuid",
              {std::to_string(ago.count()), lease.to_string()});
  }
  void age(const std::string& name, std::chrono::microseconds unused_for) override {
    side_.run("UPDATE " + prefix_ +
                  "lock SET used_at = clock_timestamp() - $1::bigint * interval '1 microsecond' "
                  "WHERE name = $2",
              {std::to_string(unused_for.count()), name});
  }

  void make_unknown(const std::string& name) override {
    side_.run("UPDATE " + prefix_ + "lock SET kind = 'later' WHERE name = $1", {name});
  }
  rival lock_row(const std::string& name) override {
    auto connection = transaction();
    connection->run("SELECT 1 FROM " + prefix_ + "lock WHERE name = $1 FOR UPDATE", {name});
    return connection;
  }
  rival guard(const std::string& name, const model::hold_id& hold, model::lock_mode mode) override {
    auto connection = transaction();
    if (connection->run(open()->guard_sql(mode), {name, hold.to_string()}) == 0) return {};
    return connection;
  }
  rival stall_renewals() override {
    auto connection = transaction();
    connection->run_script("LOCK TABLE " + prefix_ + "lease IN SHARE MODE");
    return connection;
  }

  void lose_marker() override { side_.run_script("TRUNCATE " + prefix_ + "marker"); }
  void change_identity() override { side_.run_script("UPDATE " + prefix_ + "meta SET identity = 'another'"); }

 private:
  static std::shared_ptr<side_connection> transaction() {
    auto connection = std::make_shared<side_connection>();
    connection->run_script("BEGIN");
    // A backend whose client has left keeps its rows until it notices; rolled back, it has let go of them.
    auto* raw = connection.get();
    return {raw, [connection = std::move(connection)](side_connection* open) mutable {
              try {
                open->run_script("ROLLBACK");
              } catch (const std::exception&) {
                // The server ended it already.
              }
              connection.reset();
            }};
  }
  void drop_everything() {
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

  // Never the prefix of another test's, nor of what a crashed run left behind.
  std::string prefix_ = "t" + model::id128::random().to_string().substr(0, 12) + "_";
  side_connection side_;
};

}  // namespace

std::unique_ptr<store_fixture> make_postgres_fixture() {
  return std::make_unique<postgres_fixture>();
}

}  // namespace rowlock::test
