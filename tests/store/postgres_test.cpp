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

lease_id new_lease(store::session& session, std::chrono::milliseconds ttl) {
  store::lease_record lease;
  lease.id = lease.client = lease_id::random();
  lease.host = "host";
  lease.pid = 1;
  lease.application = "test";
  lease.ttl = ttl;
  session.create_lease(lease);
  return lease.id;
}

void create(store::session& session, const std::string& name) {
  const model::lock_definition definition{.name = name};
  session.create({&definition, 1});
}

std::optional<model::token> acquire(store::session& session, const claim& wanted) {
  const store::acquire_request request{.name = wanted.name, .lease = wanted.lease, .hold = wanted.hold};
  const auto grants = session.acquire({&request, 1});
  if (grants.empty()) return {};
  return grants.front().token;
}

bool release(store::session& session, const claim& held, store::durability how) {
  const store::release_request request{.name = held.name, .lease = held.lease, .hold = held.hold};
  return !session.release({&request, 1}, how).empty();
}

bool renew(store::session& session, lease_id lease) {
  return !session.renew({&lease, 1}).renewed.empty();
}

store::edit_result edit(store::session& session, const std::string& name,
                        const std::function<store::lock_change(const store::lock_view&)>& decide) {
  const store::edit_request request{.name = name, .about = {}, .decide = decide};
  return session.edit({&request, 1}).front();
}

std::optional<store::lock_view> look(store::session& session, const std::string& name) {
  std::optional<store::lock_view> seen;
  edit(session, name, [&](const store::lock_view& view) {
    seen = view;
    return store::lock_change{};
  });
  return seen;
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
  // A test that failed may have left a transaction open.
  side_->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1",
             {options_.schema});
  side_->run("DROP SCHEMA " + options_.schema + " CASCADE");
}

std::unique_ptr<store::session> postgres_test::ready() {
  auto session = connect();
  session->refresh_world();
  return session;
}

std::unique_ptr<raw_postgres> postgres_test::raw() {
  auto connection = std::make_unique<raw_postgres>(url_);
  connection->run("SET search_path = " + options_.schema + "; SET application_name = " + options_.schema);
  return connection;
}

claim postgres_test::held(store::session& session, const std::string& name) {
  claim wanted{name, new_lease(session), hold_id::random()};
  create(session, name);
  EXPECT_TRUE(acquire(session, wanted));
  return wanted;
}

void postgres_test::restart(std::unique_ptr<store::session>& session) {
  const auto before = session->backend();
  session = connect();
  EXPECT_TRUE(session->end_ghost(before));
}

std::int64_t postgres_test::counter(const std::string& table, const std::string& what) {
  return std::stoll(
      side_->value("SELECT " + what + " FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = $2",
                   {options_.schema, table}));
}

}  // namespace rowlock::test
