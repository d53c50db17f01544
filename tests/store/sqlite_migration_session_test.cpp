#include "sqlite_test.hpp"

#include <rowlock/migrate.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

namespace rowlock::test {
namespace {

class sqlite_migration_session_test : public testing::Test {
 protected:
  std::string path() const { return folder_.path() / "new.db"; }
  std::unique_ptr<store::migration_session> open() {
    return store::open_sqlite_for_migration(path(), options_);
  }
  static std::string file(const std::string& name) {
    for (const auto& found : embedded::sqlite_migrations()) {
      if (found.name == name) return std::string{found.text};
    }
    ADD_FAILURE() << "no migration " << name;
    return {};
  }
  static store::ledger_entry entry(int version = 1) {
    return {.version = version, .title = "locks", .checksum = "abc", .applied_at = {}};
  }

  temporary_folder folder_;
  store::store_options options_;
};

TEST_F(sqlite_migration_session_test, a_missing_file_is_empty_and_is_created_when_something_is_written) {
  const auto session = open();
  EXPECT_EQ(session->state().version, 0);
  EXPECT_FALSE(session->has_ledger());
  EXPECT_TRUE(session->ledger().empty());
  EXPECT_EQ(session->leases(), 0);
  EXPECT_TRUE(session->describe().empty());
  EXPECT_FALSE(std::filesystem::exists(path()));
  session->exclusively([] {});
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(sqlite_migration_session_test, up_and_down_with_the_ledger) {
  const auto session = open();
  session->exclusively([&] { session->apply(file("0001_locks.up"), entry()); });
  EXPECT_EQ(session->state().version, 1);
  EXPECT_EQ(session->state().min_library, 1);
  ASSERT_EQ(session->ledger().size(), 1U);
  EXPECT_EQ(session->ledger()[0].title, "locks");
  EXPECT_EQ(session->ledger()[0].applied_at.size(), std::string{"2026-01-01T00:00:00Z"}.size());
  EXPECT_EQ(raw_sqlite{path()}.ask("PRAGMA journal_mode").values, std::vector<std::string>{"wal"});
  session->exclusively([&] { session->revert(file("0001_locks.down"), 1); });
  EXPECT_EQ(session->state().version, 0);
  EXPECT_TRUE(session->ledger().empty());
  EXPECT_EQ(raw_sqlite{path()}.ask("SELECT name FROM sqlite_master WHERE type = 'table'").values,
            std::vector<std::string>{"rowlock_migration"});
}

TEST_F(sqlite_migration_session_test, another_tool_may_run_a_file_as_it_is_and_again) {
  raw_sqlite tool{path()};
  const auto up = file("0001_locks.up");
  tool.run(up.substr(0, up.find("CREATE TABLE IF NOT EXISTS rowlock_queue")));  // killed in the middle
  EXPECT_EQ(open()->state().version, 0);
  tool.run(up);
  EXPECT_EQ(open()->state().version, 1);
  EXPECT_FALSE(open()->has_ledger());
  const auto session = open();
  session->record(entry());
  EXPECT_EQ(session->ledger().size(), 1U);
}

TEST_F(sqlite_migration_session_test, a_failing_migration_leaves_nothing_of_itself) {
  const auto session = open();
  expect_error(
      [&] {
        session->exclusively([&] {
          session->apply(file("0001_locks.up"), entry());
          session->apply("CREATE TABLE half (x); SELECT nonsense;", entry(2));
        });
      },
      errc::schema, "nonsense");
  EXPECT_EQ(session->state().version, 0);
  EXPECT_EQ(raw_sqlite{path()}.number("SELECT count(*) FROM sqlite_master"), 0);
  EXPECT_NO_THROW(session->exclusively([&] { session->apply(file("0001_locks.up"), entry()); }));
}

TEST_F(sqlite_migration_session_test, a_migrator_waits_for_another_one) {
  const auto first = open();
  const auto second = open();
  std::atomic<bool> entered{false};
  std::jthread other;
  first->exclusively([&] {
    first->apply(file("0001_locks.up"), entry());
    other = std::jthread{[&] {
      second->exclusively([&] {
        entered = true;
        EXPECT_EQ(second->state().version, 1) << "it sees what the first one has done";
      });
    }};
    first->apply("SELECT 1;", entry(2));
    EXPECT_FALSE(entered);
  });
  other.join();
  EXPECT_TRUE(entered);
}

// SQLite itself refuses at once to change the journal mode of a file that somebody writes to.
TEST_F(sqlite_migration_session_test, the_first_migrator_waits_for_a_writer_of_the_fresh_file) {
  options_.statement_timeout = std::chrono::milliseconds{50};
  const auto session = open();
  raw_sqlite other{path()};
  other.run("BEGIN IMMEDIATE");
  const auto start = std::chrono::steady_clock::now();
  expect_error([&] { session->exclusively([] {}); }, errc::contention, "write lock");
  EXPECT_GE(std::chrono::steady_clock::now() - start, options_.statement_timeout);
  other.run("COMMIT");
  session->exclusively([&] { session->apply(file("0001_locks.up"), entry()); });
  EXPECT_EQ(session->state().version, 1);
}

TEST_F(sqlite_migration_session_test, a_file_that_sets_its_own_timeout_leaves_ours) {
  options_.statement_timeout = std::chrono::milliseconds{50};
  const auto session = open();
  session->apply(file("0001_locks.up"), entry());
  raw_sqlite other{path()};
  other.run("BEGIN IMMEDIATE");
  const auto start = std::chrono::steady_clock::now();
  expect_error([&] { session->record(entry(2)); }, errc::contention);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{3}) << "the file says 5 seconds";
}

// SQLite keeps the text of a statement: with its comments, with the blanks before a column that was added, and with
// quotes around the name of a table that was renamed.
TEST_F(sqlite_migration_session_test, the_schema_for_reading_is_the_schema_of_the_migrations) {
  const auto tables = [](const std::string& database) {
    auto found = raw_sqlite{database}.ask(
        "SELECT replace(sql, 'IF NOT EXISTS ', '') FROM sqlite_master "
        "WHERE sql IS NOT NULL AND name <> 'rowlock_migration' ORDER BY name");
    for (auto& sql : found.values) sql = std::regex_replace(sql, std::regex{"--[^\n]*|[\"\\s]"}, "");
    return found.values;
  };
  std::ostringstream schema;
  schema << std::ifstream{std::string{ROWLOCK_SOURCE_DIR} + "/schema/sqlite.sql"}.rdbuf();
  const std::string read = folder_.path() / "read.db";
  raw_sqlite{read}.run(schema.str());
  migrate_sqlite(path());
  EXPECT_EQ(tables(read), tables(path()));
  EXPECT_GE(tables(read).size(), 7U);
}

TEST_F(sqlite_migration_session_test, describe_names_each_column_with_the_prefix_of_the_files) {
  options_.prefix = "other_";
  const auto session = open();
  session->apply(store::with_prefix(file("0001_locks.up"), "other_"), entry());
  const auto lines = session->describe();
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "rowlock_lock.lease_id TEXT"), 1);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "rowlock_lock.name TEXT not null"), 1);
  EXPECT_EQ(lines.size(), 45U);
}

// Files that rebuild a table must not depend on what else is in the user's database.
TEST_F(sqlite_migration_session_test, views_of_the_user_are_in_no_files_way) {
  rowlock::migrator tables{"sqlite:" + path(), {}};
  tables.up(1);
  raw_sqlite{path()}.run(
      "CREATE VIEW busy AS SELECT host FROM rowlock_lease; CREATE VIEW stale AS SELECT * FROM gone");
  tables.up();
  raw_sqlite{path()}.run("SELECT host FROM busy");
  EXPECT_TRUE(tables.verify().empty());
  tables.down(1);
}

TEST_F(sqlite_migration_session_test, live_leases_are_counted) {
  migrate_sqlite(path());
  const auto session = open();
  raw_sqlite{path()}.run(
      "INSERT INTO rowlock_lease "
      "(id, client_id, host, pid, application, ttl_ms, expires_at, notice, created_at) "
      "VALUES ('a', 'a', 'h', 1, 'x', 1000, 1 << 60, 0, 0), ('b', 'b', 'h', 1, 'x', 1000, 1, 0, 0)");
  EXPECT_EQ(session->leases(), 1);
}

}  // namespace
}  // namespace rowlock::test
