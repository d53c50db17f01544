// Each migration runs in one transaction, and one migrator at a time; and what they leave behind.
#include "store/embedded.hpp"
#include "store/postgres_test.hpp"
#include "store/sql_catalog.hpp"

#include "support/background.hpp"

#include <rowlock/migrate.hpp>

#include <fstream>
#include <future>
#include <sstream>

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const int newest = required_schema_version();

class postgres_migration_session_test : public postgres_test {
 protected:
  std::unique_ptr<store::migration_session> migrator() {
    return store::open_postgres_for_migration(url_, options_);
  }
  rowlock::migrator migrator_of(const options& settings) { return rowlock::migrator{url_, settings}; }
  static std::vector<int> recorded(store::migration_session& session) {
    std::vector<int> versions;
    for (const auto& entry : session.ledger()) versions.push_back(entry.version);
    return versions;
  }
  // Everything that the catalogs know about the tables: columns, defaults, keys, checks, storage. The prefix is as in
  // the files.
  raw_postgres::rows catalog(const std::string& prefix) {
    return side_->run(
        "SELECT replace(c.relname, $1, 'rowlock_'), c.relpersistence, "
        "       array_to_string(array(SELECT unnest(c.reloptions) ORDER BY 1), ','), "
        "       (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), "
        "                                    attnotnull, attcollation, pg_get_expr(adbin, adrelid)), "
        "                          '; ' ORDER BY attnum) "
        "        FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum "
        "        WHERE attrelid = c.oid AND attnum > 0), "
        "       (SELECT string_agg(pg_get_constraintdef(o.oid), "
        "                          '; ' ORDER BY pg_get_constraintdef(o.oid)) "
        "        FROM pg_constraint AS o WHERE o.conrelid = c.oid), "
        "       (SELECT replace(pg_get_indexdef(i.indexrelid), $1, 'rowlock_') "
        "        FROM pg_index AS i WHERE i.indexrelid = c.oid) "
        "FROM pg_class AS c WHERE c.relnamespace = $2::regnamespace AND c.relname LIKE $1 || '%' "
        "  AND c.relkind IN ('r', 'i') AND c.relname NOT LIKE '%migration%' ORDER BY 1",
        {prefix, options_.schema});
  }
};

TEST_F(postgres_migration_session_test, leaves_what_the_schema_file_shows) {
  std::ifstream file{ROWLOCK_SOURCE_DIR "/schema/postgres.sql"};
  std::ostringstream text;
  text << file.rdbuf();
  ASSERT_NE(text.str(), "");
  side_->run(store::with_prefix(text.str(), "file_"));
  const auto migrated = catalog("rowlock_");
  EXPECT_GE(migrated.size(), 13U) << "six tables at least, their keys, and the queue's index";
  EXPECT_EQ(catalog("file_"), migrated);
}

TEST_F(postgres_migration_session_test, knows_the_state) {
  const auto session = migrator();
  EXPECT_EQ(session->state().version, newest);
  EXPECT_EQ(session->state().min_library, 1);
  EXPECT_TRUE(session->has_ledger());
  EXPECT_THAT(recorded(*session), SizeIs(newest));
  EXPECT_EQ(session->leases(), 0);
  new_lease(*ready());
  EXPECT_EQ(session->leases(), 1);

  options_.prefix = "missing_";
  const auto other = migrator();
  EXPECT_EQ(other->state().version, 0);
  EXPECT_FALSE(other->has_ledger());
  EXPECT_THAT(other->ledger(), IsEmpty());
  EXPECT_THAT(other->describe(), IsEmpty());
  EXPECT_EQ(other->leases(), 0);
}

// As when a role gets a schema of its own, which comes first in the usual search_path, after its first migration.
TEST_F(postgres_migration_session_test, makes_no_table_beside_a_schema_that_has_the_others) {
  const auto here = options_.schema;
  const auto first = here + "_first";
  options named;
  named.prefix = "other_";
  named.schema = here;
  migrator_of(named).up(2);
  side_->run("CREATE SCHEMA " + first);
  url_ +=
      (url_.find('?') == std::string::npos ? "?" : "&") + ("options=-csearch_path%3D" + first + "," + here);
  auto along_the_path = named;
  along_the_path.schema.clear();
  try {
    migrator_of(along_the_path).up();
    ADD_FAILURE() << "the new tables are in " << first;
  } catch (const error& problem) {
    EXPECT_EQ(problem.code(), errc::schema);
    EXPECT_THAT(problem.what(), HasSubstr("name the schema: --schema " + here));
  }
  EXPECT_EQ(side_->value("SELECT count(*) FROM pg_class WHERE relnamespace = '" + first + "'::regnamespace"),
            "0");
  migrator_of(named).up();
  EXPECT_NO_THROW(migrator_of(along_the_path).up()) << "nothing is to be made";
  side_->run("DROP SCHEMA " + first);
}

TEST_F(postgres_migration_session_test, runs_a_file_whole_or_not_at_all) {
  const auto session = migrator();
  EXPECT_THROW(session->apply("CREATE TABLE rowlock_made (id int); SELECT 1 / 0;",
                              {.version = newest + 1, .title = "bad", .checksum = "", .applied_at = ""}),
               error);
  EXPECT_EQ(side_->value("SELECT to_regclass('rowlock_made') IS NULL"), "t");
  EXPECT_THAT(recorded(*session), SizeIs(newest));
  // The setting did not outlive the transaction either, and the session goes on.
  session->apply("CREATE TABLE rowlock_made (id int)",
                 {.version = newest + 1, .title = "good", .checksum = "abc", .applied_at = ""});
  ASSERT_THAT(recorded(*session), SizeIs(newest + 1));
  EXPECT_EQ(session->ledger().back().title, "good");
  EXPECT_EQ(session->ledger().back().applied_at.size(), std::string{"2026-01-01T00:00:00Z"}.size());
  session->revert("DROP TABLE rowlock_made;", newest + 1);
  EXPECT_THAT(recorded(*session), SizeIs(newest));
}

// Clients take rowlock's tables in another order than a file does.
TEST_F(postgres_migration_session_test, runs_a_file_again_that_was_undone_to_end_a_deadlock) {
  side_->run("CREATE TABLE one (id int); CREATE TABLE two (id int)");
  // The server looks for a deadlock when somebody has waited for this long, and rolls back that transaction.
  url_ += (url_.find('?') == std::string::npos ? "?" : "&") + std::string{"options=-cdeadlock_timeout%3D1s"};
  const auto patient = raw();
  patient->run("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE two");
  const auto session = migrator();
  auto applied = in_background([&] {
    session->apply("ALTER TABLE one ADD COLUMN more int; ALTER TABLE two ADD COLUMN more int;",
                   {.version = newest + 1, .title = "more", .checksum = "", .applied_at = ""});
  });
  while (side_->value("SELECT count(*) FROM pg_locks WHERE relation = 'two'::regclass AND NOT granted") ==
         "0") {
  }
  patient->run("LOCK TABLE one; COMMIT");
  applied.get();
  EXPECT_EQ(side_->value("SELECT count(*) FROM pg_attribute WHERE attname = 'more' AND attrelid IN "
                         "('one'::regclass, 'two'::regclass)"),
            "2");
  EXPECT_THAT(recorded(*session), SizeIs(newest + 1));
}

TEST_F(postgres_migration_session_test, goes_down_and_up_again) {
  const auto session = migrator();
  const auto files = embedded::postgres_migrations();
  int version = newest;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!file->name.ends_with(".down")) continue;
    EXPECT_EQ(session->state().version, version);
    session->revert(std::string{file->text}, version--);
  }
  EXPECT_EQ(session->state().version, 0);
  EXPECT_THAT(catalog("rowlock_"), IsEmpty());
  EXPECT_THAT(session->ledger(), IsEmpty());
  migrate_postgres(url_, options_);
  EXPECT_EQ(session->state().version, newest);
  EXPECT_THAT(recorded(*session), SizeIs(newest));
}

// Another tool may have been killed between two statements.
TEST_F(postgres_migration_session_test, repeats_a_run_without_harm) {
  const auto session = ready();
  const auto hold = held(*session, "a");
  migrate_postgres(url_, options_);
  EXPECT_TRUE(release(*session, hold));
}

TEST_F(postgres_migration_session_test, keeps_two_migrators_apart) {
  const auto one = migrator();
  std::future<void> second;
  bool inside = false;
  one->exclusively([&] {
    inside = true;
    second = in_background([&] { migrator()->exclusively([&] { EXPECT_FALSE(inside); }); });
    while (side_->value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == "0") {
    }
    // On other tables, nobody waits.
    auto options = options_;
    options.prefix = "other_";
    store::open_postgres_for_migration(url_, options)->exclusively([] {});
    inside = false;
  });
  second.get();
  EXPECT_THROW(one->exclusively([] { throw error(errc::schema, "stop"); }), error);
  one->exclusively([] {});
}

}  // namespace
}  // namespace rowlock::test
