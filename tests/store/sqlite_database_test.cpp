#include "sqlite_test.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rowlock::test {
namespace {

using sqlite_database_test = sqlite_test;

// Becomes an ordinary user, because permissions do not bind root.
class as_nobody {
 public:
  as_nobody() {
    if (::geteuid() == 0) changed_ = ::seteuid(65534) == 0;
  }
  ~as_nobody() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }
  as_nobody(const as_nobody&) = delete;
  as_nobody& operator=(const as_nobody&) = delete;

 private:
  bool changed_ = false;
};

TEST_F(sqlite_database_test, says_that_one_connection_writes_at_a_time) {
  EXPECT_TRUE(store::open_sqlite(folder_.path() / "any.db", options_)->single_writer());
}

TEST_F(sqlite_database_test, a_missing_file_is_named_and_not_created) {
  const std::string missing = folder_.path() / "missing.db";
  expect_error([&] { store::open_sqlite(missing, options_)->connect(); }, errc::not_migrated,
               "rowlock --url sqlite:" + missing + " migrate up");
  EXPECT_FALSE(std::filesystem::exists(missing));
}

TEST_F(sqlite_database_test, a_missing_folder_is_named) {
  const std::string folder = folder_.path() / "missing";
  expect_error([&] { store::open_sqlite(folder + "/locks.db", options_)->connect(); }, errc::unreachable,
               folder);
  expect_error([&] { store::open_sqlite_for_migration(folder + "/locks.db", options_); }, errc::unreachable,
               folder);
}

TEST_F(sqlite_database_test, a_folder_is_no_file) {
  expect_error([&] { store::open_sqlite(folder_.path(), options_)->connect(); }, errc::invalid_argument,
               "not a file");
}

TEST_F(sqlite_database_test, a_file_of_something_else_is_told) {
  const std::string other = folder_.path() / "letter.txt";
  std::ofstream{other} << std::string(4096, 'x');
  expect_error([&] { store::open_sqlite(other, options_)->connect(); }, errc::invalid_argument,
               "not an SQLite database");
  EXPECT_EQ(error_of([&] { store::open_sqlite(other, options_)->connect(); })->database_code(), "26");
}

TEST_F(sqlite_database_test, a_file_without_the_tables_names_the_command) {
  const std::string empty = folder_.path() / "empty.db";
  raw_sqlite{empty}.run("CREATE TABLE mine (id)");
  expect_error([&] { store::open_sqlite(empty, options_)->connect(); }, errc::not_migrated, "migrate up");
  options_.prefix = "other_";
  expect_error([&] { connect(); }, errc::not_migrated, "--prefix other_ migrate up");
}

TEST_F(sqlite_database_test, a_schema_that_forbids_this_library_is_too_new) {
  raw_sqlite raw{path()};
  raw.run("UPDATE rowlock_meta SET schema_version = 7, min_library = 1");
  EXPECT_NO_THROW(connect()) << "a later schema that allows this library";
  raw.run("UPDATE rowlock_meta SET min_library = 7");
  expect_error([&] { connect(); }, errc::too_new, "install a newer rowlock");
}

TEST_F(sqlite_database_test, two_prefixes_share_a_file) {
  migrate_sqlite(path(), "other_");
  auto one = ready();
  options_.prefix = "other_";
  auto two = ready();
  const auto first = new_lease(*one);
  const auto second = new_lease(*two);
  create(*one, "a");
  create(*two, "a");
  EXPECT_TRUE(acquire(*one, "a", first.id, store::hold_id::random()));
  EXPECT_TRUE(acquire(*two, "a", second.id, store::hold_id::random()));
}

TEST_F(sqlite_database_test, a_file_that_may_not_be_written_is_refused) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  ASSERT_EQ(::chmod(path().c_str(), 0444), 0);
  const as_nobody ordinary;
  expect_error([&] { connect(); }, errc::privilege, path());
}

TEST_F(sqlite_database_test, a_folder_that_may_not_be_written_is_refused) {
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  {
    const as_nobody ordinary;
    expect_error([&] { connect(); }, errc::privilege, "-wal");
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(sqlite_database_test, a_relative_path_survives_a_change_of_folder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto database = store::open_sqlite("sqlite:locks.db", options_);
  std::filesystem::current_path(before);
  EXPECT_NO_THROW(database->connect());
}

TEST_F(sqlite_database_test, a_lock_of_a_later_version_keeps_its_kind) {
  auto session = ready();
  create(*session, "a");
  raw_sqlite raw{path()};
  raw.run("UPDATE rowlock_lock SET kind = 'carousel'");
  const store::edit_request edit{.name = "a", .about = {}, .decide = [](const store::lock_view& view) {
                                   store::lock_change change;
                                   change.row = view.row;
                                   change.row->token += 1;
                                   return change;
                                 }};
  session->edit({&edit, 1});
  EXPECT_EQ(raw.ask("SELECT kind FROM rowlock_lock").values, std::vector<std::string>{"carousel"});
}

// Otherwise the differences between readings would be up to 40 us off, and what counts the time that has passed by
// another clock could see less of it here.
TEST_F(sqlite_database_test, its_clock_counts_whole_milliseconds) {
  auto session = ready();
  for (int i = 0; i < 20; ++i) create(*session, "n" + std::to_string(i));
  EXPECT_EQ(raw_sqlite{path()}.number("SELECT count(*) FROM rowlock_lock WHERE used_at % 1000 <> 0"), 0);
}

TEST_F(sqlite_database_test, a_link_leads_to_the_same_world) {
  const auto elsewhere = folder_.path() / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_symlink(path(), elsewhere / "link.db");
  auto direct = ready();
  auto linked = store::open_sqlite(elsewhere / "link.db", options_)->connect();
  EXPECT_EQ(linked->read_database_state(), direct->read_database_state());
  const auto mine = new_lease(*direct);
  create(*linked, "a");
  EXPECT_TRUE(acquire(*linked, "a", mine.id, store::hold_id::random()));
  EXPECT_FALSE(acquire(*direct, "a", mine.id, store::hold_id::random()));
}

TEST_F(sqlite_database_test, a_session_outlives_its_database) {
  auto session = store::open_sqlite(path(), options_)->connect();
  EXPECT_NO_THROW(session->record_database_state());
}

TEST_F(sqlite_database_test, connecting_turns_on_write_ahead_logging) {
  raw_sqlite{path()}.run("PRAGMA journal_mode = DELETE");
  connect();
  EXPECT_EQ(raw_sqlite{path()}.ask("PRAGMA journal_mode").values, std::vector<std::string>{"wal"});
}

}  // namespace
}  // namespace rowlock::test
