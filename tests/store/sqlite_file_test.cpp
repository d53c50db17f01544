// Which file counts as the same database: a copy, a restored backup or a new file is another one.
#include "store/sqlite/sqlite_file.hpp"

#include "store/schema_version.hpp"

#include "sqlite_test.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

class sqlite_file_test : public sqlite_test {
 protected:
  // Expects that each verb that grants or renews is refused, and the answer on which a grant would be believed.
  static void expect_refused(store::session& session, const store::lease_record& mine,
                             const std::string& says) {
    expect_error([&] { acquire(session, "a", mine.id, store::hold_id::random()); }, errc::unreachable, says);
    expect_error([&] { session.renew({&mine.id, 1}); }, errc::unreachable, says);
    expect_error([&] { session.create_lease(lease()); }, errc::unreachable, says);
    const store::edit_request edit{.name = "a", .about = {}, .decide = [](const store::lock_view&) {
                                     ADD_FAILURE() << "decided in a file that others do not see";
                                     return store::lock_change{};
                                   }};
    expect_error([&] { session.edit({&edit, 1}); }, errc::unreachable, says);
    const store::hold_query query{.name = "a", .hold = {}};
    expect_error([&] { session.find({&query, 1}); }, errc::unreachable, says);
  }

  // Moves another whole file into the place, as a restore does.
  void replace() {
    const std::string copy = folder_.path() / "copy.db";
    raw_sqlite{path()}.run("VACUUM INTO '" + copy + "'");
    fs::rename(copy, path());
    fs::remove(path() + "-wal");
    fs::remove(path() + "-shm");
  }
};

TEST_F(sqlite_file_test, identity_belongs_to_the_file_and_not_to_its_content) {
  const auto first = store::sqlite_file{path()}.identity();
  EXPECT_EQ(store::sqlite_file{path()}.identity(), first);
  replace();
  EXPECT_NE(store::sqlite_file{path()}.identity(), first);
}

TEST_F(sqlite_file_test, a_file_that_comes_again_with_the_same_inode_differs_by_its_birth) {
  const auto first = store::sqlite_file{path()}.identity();
  fs::remove(path());
  raw_sqlite{path()}.run("CREATE TABLE t (x)");
  EXPECT_NE(store::sqlite_file{path()}.identity(), first);
}

TEST_F(sqlite_file_test, verbs_that_grant_or_renew_notice_that_the_file_was_replaced) {
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  replace();
  expect_refused(*session, mine, "replaced");
  session.reset();
  EXPECT_NO_THROW(connect());
}

TEST_F(sqlite_file_test, verbs_notice_that_the_file_was_removed) {
  auto session = ready();
  fs::remove(path());
  expect_error([&] { session->create_lease(lease()); }, errc::unreachable, "removed");
  expect_error([&] { connect(); }, errc::not_migrated);
}

TEST_F(sqlite_file_test, a_replaced_file_grants_nothing_before_its_epoch_rose) {
  auto old = ready();
  const auto mine = new_lease(*old);
  create(*old, "a");
  const auto before = acquire(*old, "a", mine.id, store::hold_id::random());
  ASSERT_TRUE(before);
  const auto old_world = old->read_database_state();
  replace();

  auto session = connect();
  const auto found = session->read_database_state();
  EXPECT_NE(found.identity, found.recorded_identity);
  create(*session, "b");
  EXPECT_FALSE(acquire(*session, "b", mine.id, store::hold_id::random()));

  raw_sqlite raw{path()};
  const auto now = [&] { return raw.number("SELECT " + std::string{sqlite_now_us}); };
  // The lease looks as if a clock that was an hour behind had written it.
  const auto behind = lease(std::chrono::seconds{20});
  session->create_lease(behind);
  raw.run("UPDATE rowlock_lease SET expires_at = expires_at - 3600000000");
  const auto earliest = now();
  const auto risen = session->record_database_state();
  const auto latest = now();
  EXPECT_EQ(risen.identity, risen.recorded_identity);
  EXPECT_GT(risen.epoch, old_world.epoch);
  EXPECT_EQ(risen.marker, old_world.marker);
  for (const std::int64_t ttl_ms : {30'000, 20'000}) {
    const auto expires =
        raw.number("SELECT expires_at FROM rowlock_lease WHERE ttl_ms = " + std::to_string(ttl_ms));
    EXPECT_GE(expires - ttl_ms * 1000, earliest) << "each lease expires its own ttl from now";
    EXPECT_LE(expires - ttl_ms * 1000, latest);
  }
  const auto after = acquire(*session, "b", mine.id, store::hold_id::random());
  ASSERT_TRUE(after);
  EXPECT_GT(after->token, before->token);
  EXPECT_EQ(session->record_database_state(), risen) << "and once only";
}

TEST_F(sqlite_file_test, a_file_with_two_names_is_refused) {
  const std::string second = folder_.path() / "second.db";
  fs::create_hard_link(path(), second);
  for (const auto& name : {path(), second}) {
    expect_error([&] { store::open_sqlite(name, options_)->connect(); }, errc::invalid_argument,
                 "has 2 names (hard links)");
    expect_error([&] { store::open_sqlite_for_migration(name, options_); }, errc::invalid_argument,
                 "has 2 names (hard links)");
  }
  options_.read_only = true;
  expect_error([&] { connect(); }, errc::invalid_argument, "make a symbolic link");
  fs::remove(second);
  EXPECT_NO_THROW(connect());
}

TEST_F(sqlite_file_test, a_symbolic_link_is_no_second_name) {
  const std::string second = folder_.path() / "second.db";
  fs::create_symlink(path(), second);
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  ASSERT_TRUE(acquire(*session, "a", mine.id, store::hold_id::random()));
  const auto other = store::open_sqlite(second, options_)->connect();
  EXPECT_EQ(other->show("a").value().holders.size(), 1U);
}

TEST_F(sqlite_file_test, a_file_that_gets_a_second_name_grants_nothing_while_it_has_it) {
  auto session = ready();
  const auto mine = new_lease(*session);
  create(*session, "a");
  const std::string second = folder_.path() / "second.db";
  fs::create_hard_link(path(), second);
  expect_refused(*session, mine, "another name");
  fs::remove(second);
  EXPECT_TRUE(acquire(*session, "a", mine.id, store::hold_id::random()));
}

// A script that cleans up may delete side files, and a backup may leave them out.
TEST_F(sqlite_file_test, verbs_notice_that_a_side_file_was_deleted_or_replaced) {
  for (const std::string end : {"-wal", "-shm"}) {
    for (const bool comes_again : {false, true}) {
      SCOPED_TRACE(end + (comes_again ? ", which another process made anew" : ""));
      auto session = ready();
      const auto mine = new_lease(*session);
      create(*session, "a");
      const std::string kept = folder_.path() / "kept";
      fs::rename(path() + end, kept);
      if (comes_again) fs::copy_file(kept, path() + end);
      expect_refused(*session, mine, "has lost its " + end);
      session.reset();
      EXPECT_NO_THROW(connect()) << "no connection has the old one any more";
      fs::remove(path() + end);
      fs::remove(kept);
    }
  }
}

// All connections of a process share its -shm file.
TEST_F(sqlite_file_test, a_process_makes_no_new_connection_while_one_has_a_deleted_side_file) {
  for (const std::string end : {"-wal", "-shm"}) {
    SCOPED_TRACE(end);
    auto session = ready();
    EXPECT_NO_THROW(connect());
    fs::remove(path() + end);
    expect_error([&] { connect(); }, errc::unreachable, end + " (deleted)");
    session.reset();
    EXPECT_NO_THROW(connect());
  }
}

TEST_F(sqlite_file_test, a_connection_whose_log_was_deleted_does_not_write_it_into_the_file_at_its_end) {
  auto session = ready();
  raw_sqlite{path()}.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto mine = new_lease(*session);
  fs::remove(path() + "-wal");
  fs::remove(path() + "-shm");
  session.reset();
  EXPECT_EQ(raw_sqlite{path()}.number("SELECT count(*) FROM rowlock_lease"), 0)
      << "others may have written to the file since";
}

// A container may mount a single file.
TEST_F(sqlite_file_test, a_file_that_is_a_mount_point_is_refused) {
  const std::string second = folder_.path() / "second.db";
  std::ofstream{second};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      ::_exit(77);
    if (::mount(path().c_str(), second.c_str(), nullptr, MS_BIND, nullptr) != 0) ::_exit(77);
    try {
      store::open_sqlite(second, options_)->connect();
    } catch (const error& refused) {
      const bool says_why = std::strstr(refused.what(), "mount its folder instead") != nullptr;
      ::_exit(refused.code() == errc::invalid_argument && says_why ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount anything";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The user who reads may write neither the file nor its folder.
class sqlite_reader_test : public sqlite_test {
 protected:
  void SetUp() override {
    auto session = ready();
    const auto mine = new_lease(*session);
    create(*session, "a");
    ASSERT_TRUE(acquire(*session, "a", mine.id, store::hold_id::random()));
    options_.read_only = true;
  }
  void TearDown() override { lift(); }

  // Forbids writing until lift().
  void forbid_writing() {
    for (const auto& entry : fs::directory_iterator{folder_.path()}) set(entry.path(), 0444);
    set(folder_.path(), 0555);
    be(65534);
  }
  // Becomes that user, because a superuser may read and write everything.
  static void be(uid_t user) {
    if (::getuid() == 0 && ::seteuid(user) != 0) FAIL() << "cannot become the user " << user;
  }
  void lift() {
    be(0);
    set(folder_.path(), 0755);
    for (const auto& entry : fs::directory_iterator{folder_.path()}) set(entry.path(), 0644);
  }

 private:
  static void set(const fs::path& path, unsigned mode) { fs::permissions(path, fs::perms{mode}); }
};

TEST_F(sqlite_reader_test, reads_a_file_that_nobody_writes_to) {
  ASSERT_FALSE(fs::exists(path() + "-wal"));
  forbid_writing();
  const auto session = connect();
  EXPECT_EQ(session->list().size(), 1U);
  EXPECT_EQ(session->show("a").value().holders.size(), 1U);
  EXPECT_TRUE(session->queue("a").empty());
  EXPECT_EQ(store::open_sqlite_for_migration(path(), options_)->ledger().size(),
            static_cast<std::size_t>(store::library_schema_version));
  EXPECT_FALSE(fs::exists(path() + "-wal"));
}

TEST_F(sqlite_reader_test, reads_beside_a_writer) {
  raw_sqlite writer{path()};
  writer.run("UPDATE rowlock_lock SET token = token + 1");
  forbid_writing();
  EXPECT_EQ(connect()->list().size(), 1U);
}

TEST_F(sqlite_reader_test, notices_a_writer_who_came_later) {
  forbid_writing();
  const auto session = connect();
  EXPECT_EQ(session->list().size(), 1U);
  lift();
  raw_sqlite writer{path()};
  writer.run("UPDATE rowlock_lock SET token = token + 1");
  expect_error([&] { session->list(); }, errc::unreachable, "begun to write");
  expect_error([&] { session->show("a"); }, errc::unreachable, "begun to write");
  expect_error([&] { session->queue("a"); }, errc::unreachable, "begun to write");
  forbid_writing();
  EXPECT_EQ(connect()->list().size(), 1U) << "by another connection it is read";
}

TEST_F(sqlite_reader_test, says_what_it_cannot_read) {
  {
    raw_sqlite writer{path()};
    writer.run("UPDATE rowlock_lock SET token = token + 1");
    fs::copy_file(path() + "-wal", folder_.path() / "left");
  }
  fs::rename(folder_.path() / "left", path() + "-wal");  // as a killed writer, or a copy, leaves it
  forbid_writing();
  expect_error([&] { connect(); }, errc::privilege, "-wal contains changes");
  lift();
  EXPECT_EQ(connect()->list().size(), 1U);
  fs::permissions(path(), fs::perms::none);
  be(65534);
  expect_error([&] { connect(); }, errc::privilege, "cannot be read by this user");
}

}  // namespace
}  // namespace rowlock::test
