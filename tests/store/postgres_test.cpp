#include "store/postgres_test.hpp"

#include "store/embedded.hpp"
#include "store/sql_catalog.hpp"
#include "support/stores.hpp"

#include <algorithm>
#include <cstdlib>

namespace rowlock::test {

void migrate_postgres(const std::string& url, const store::store_options& options) {
  const auto session = store::open_postgres_for_migration(url, options);
  int version = 0;
  for (const auto& file : embedded::postgres_migrations()) {
    if (!file.name.ends_with(".up")) continue;
    session->apply(
        store::with_prefix(file.text, options.prefix),
        {.version = ++version, .title = std::string{file.name}, .checksum = "x", .applied_at = {}});
  }
}

std::string postgres_query(std::string_view name, std::string_view prefix) {
  return store::sql_catalog{embedded::postgres_queries(), prefix}[name];
}

int pid_of(const store::session& session) {
  return std::stoi(session.backend());
}

std::string postgres_test::server_url() const {
  const char* url = std::getenv("ROWLOCK_TEST_POSTGRES_URL");
  return url ? url : "";
}

void postgres_test::SetUp() {
  if (std::ranges::count(selected_stores(), "postgres") == 0) GTEST_SKIP() << "left out with --stores";
  url_ = server_url();
  if (url_.empty()) FAIL() << "ROWLOCK_TEST_POSTGRES_URL is not set; run under scripts/with-postgres";
  options_.schema = "t" + hold_id::random().to_string().substr(0, 16);
  options_.application = "test";
  side_ = std::make_unique<raw_postgres>(url_);
  side_->run("CREATE SCHEMA " + options_.schema + "; SET search_path = " + options_.schema);
  migrate_postgres(url_, options_);
}

void postgres_test::TearDown() {
  if (!side_ || !side_->alive()) return;
  // A failed test may have left a transaction open.
  side_->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
             {options_.schema});
  side_->run("DROP SCHEMA " + options_.schema + " CASCADE");
}

std::unique_ptr<store::session> postgres_test::ready() {
  auto session = connect();
  session->record_database_state();
  return session;
}

std::unique_ptr<raw_postgres> postgres_test::raw() {
  auto connection = std::make_unique<raw_postgres>(url_);
  connection->run("SET search_path = " + options_.schema + "; SET application_name = " + options_.schema);
  return connection;
}

claim postgres_test::held(store::session& session, const std::string& name) {
  return new_hold(session, name);
}

void postgres_test::restart(std::unique_ptr<store::session>& session) {
  const auto before = session->backend();
  session = connect();
  EXPECT_TRUE(ends_ghost(*session, before));
}

std::int64_t postgres_test::counter(const std::string& table, const std::string& what) {
  return std::stoll(
      side_->value("SELECT " + what + " FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = $2",
                   {options_.schema, table}));
}

}  // namespace rowlock::test
