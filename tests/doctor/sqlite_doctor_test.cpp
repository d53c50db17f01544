#ifdef ROWLOCK_TEST_SQLITE

// What the doctor finds about real SQLite files.
#include "doctor/doctor_test.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace rowlock::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using codes = std::vector<std::string>;

class side_file {
 public:
  explicit side_file(const std::string& path) { sqlite3_open(path.c_str(), &handle_); }
  ~side_file() { sqlite3_close(handle_); }
  side_file(const side_file&) = delete;
  side_file& operator=(const side_file&) = delete;
  void run(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
    throw std::runtime_error(sqlite3_errmsg(handle_));
  }

 private:
  sqlite3* handle_ = nullptr;
};

class sqlite_doctor_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "left out with --stores";
  }
  // Leaves out the finding that depends on where the machine has its temporary files.
  codes found() const {
    auto all = codes_of(diagnose("sqlite:" + path));
    std::erase(all, "warning file-in-memory");
    return all;
  }

  const temporary_folder folder;
  const std::string path = folder.path() / "locks.db";
};

TEST_F(sqlite_doctor_test, finds_nothing_about_a_sound_file_and_makes_none) {
  EXPECT_THAT(found(), testing::ElementsAre("error not-migrated"));
  EXPECT_FALSE(std::filesystem::exists(path));
  migrator{"sqlite:" + path}.up();
  EXPECT_THAT(found(), IsEmpty());
  const client db = connect("sqlite:" + path);
  const hold held = mutex(db, "a").acquire();
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(sqlite_doctor_test, knows_a_file_system_in_memory) {
  const std::string shared = "/dev/shm/rowlock-" + folder.path().filename().string() + ".db";
  if (!std::filesystem::exists("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm";
  migrator{"sqlite:" + shared}.up();
  EXPECT_THAT(codes_of(diagnose("sqlite:" + shared)), testing::ElementsAre("warning file-in-memory"));
  for (const auto* end : {"", "-wal", "-shm"}) std::filesystem::remove(shared + end);
}

TEST_F(sqlite_doctor_test, sees_a_journal_that_blocks_readers) {
  migrator{"sqlite:" + path}.up();
  side_file{path}.run("PRAGMA journal_mode = DELETE");
  EXPECT_THAT(found(), testing::ElementsAre("warning journal-mode"));
}

TEST_F(sqlite_doctor_test, knows_the_journal_of_a_file_that_this_user_may_only_read) {
  migrator{"sqlite:" + path}.up();
  using std::filesystem::perms;
  const auto all_read = perms::owner_read | perms::group_read | perms::others_read;
  std::filesystem::permissions(path, all_read);
  std::filesystem::permissions(folder.path(),
                               all_read | perms::owner_exec | perms::group_exec | perms::others_exec);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(2);
    try {
      const auto all = codes_of(diagnose("sqlite:" + path));
      const bool is_right = std::ranges::count(all, "note looks-only") == 1 &&
                            std::ranges::count(all, "warning journal-mode") == 0;
      ::_exit(is_right ? 0 : 1);
    } catch (...) {
      ::_exit(3);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::filesystem::permissions(folder.path(), perms::owner_all);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Whoever closes a descriptor of a file drops all locks of the process. Without them another process would delete the
// log behind this client.
TEST_F(sqlite_doctor_test, leaves_the_locks_of_its_process_on_the_file) {
  migrator{"sqlite:" + path}.up();
  const client db = connect("sqlite:" + path);
  const hold held = mutex(db, "a").acquire();
  const auto is_locked = [this] {
    const pid_t child = ::fork();
    if (child == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_start = 0x40000002;  // where SQLite's readers lock
      lock.l_len = 510;
      const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      ::_exit(file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0 ? lock.l_type != F_UNLCK : 2);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  };
  ASSERT_TRUE(is_locked());
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_TRUE(is_locked());
}

TEST_F(sqlite_doctor_test, sees_a_log_that_a_reader_keeps) {
  migrator{"sqlite:" + path}.up();
  side_file writer{path};
  side_file reader{path};
  writer.run("CREATE TABLE big (value BLOB); PRAGMA synchronous = OFF");
  reader.run("BEGIN; SELECT * FROM rowlock_meta");
  writer.run("INSERT INTO big VALUES (zeroblob(68000000))");
  EXPECT_THAT(found(), testing::ElementsAre("warning old-transaction"));
}

TEST_F(sqlite_doctor_test, sees_a_second_name) {
  migrator{"sqlite:" + path}.up();
  std::filesystem::create_hard_link(path, folder.path() / "second.db");
  EXPECT_THAT(found(), testing::ElementsAre("error hard-links"));
  std::filesystem::remove(folder.path() / "second.db");
  std::filesystem::create_symlink(path, folder.path() / "second.db");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(sqlite_doctor_test, sees_a_process_whose_side_file_was_deleted) {
  migrator{"sqlite:" + path}.up();
  for (const std::string end : {"-wal", "-shm"}) {
    side_file open{path};
    open.run("UPDATE rowlock_meta SET skew_ms = 0");
    EXPECT_THAT(found(), IsEmpty());
    std::filesystem::remove(path + end);
    EXPECT_THAT(found(), testing::ElementsAre("error side-files-deleted"));
  }
}

// A container into which a single file is mounted has such a mount point.
TEST_F(sqlite_doctor_test, sees_a_file_that_is_a_mount_point) {
  migrator{"sqlite:" + path}.up();
  const std::string mounted = folder.path() / "mounted.db";
  std::ofstream{mounted};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(path.c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      ::_exit(77);
    }
    const auto all = codes_of(diagnose("sqlite:" + mounted));
    ::_exit(std::ranges::count(all, "error mounted-file") == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount anything";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(sqlite_doctor_test, sees_the_dead_the_unused_and_a_schema_that_is_too_new) {
  migrator{"sqlite:" + path}.up();
  side_file side{path};
  side.run(
      "INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, expires_at, created_at) "
      "VALUES ('1', '1', '', 1, '', 30000, (strftime('%s', 'now') - 360) * 1000000, 0)");
  side.run(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
      "INSERT INTO rowlock_lock (name, kind, capacity, token, used_at) SELECT i, 'mutex', 1, 1, "
      "(strftime('%s', 'now') - 31 * 86400) * 1000000 FROM n");
  EXPECT_THAT(found(), testing::ElementsAre("warning dead-holders", "note idle-names"));
  side.run("UPDATE rowlock_meta SET min_library = 99");
  EXPECT_THAT(found(), Contains("error too-new"));
}

}  // namespace
}  // namespace rowlock::test

#endif
