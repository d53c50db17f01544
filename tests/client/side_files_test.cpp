#ifdef ROWLOCK_TEST_SQLITE

// What a client does when somebody deletes the files that SQLite keeps beside the database.
#include "client/client_test.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <mutex>

namespace rowlock::test {
namespace {

class side_files_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "left out with --stores";
    migrator{"sqlite:" + path}.up();
  }
  // The client's workers are idle, and keep deleted files open until they are made to look.
  client new_client() {
    options settings;
    settings.ttl = 10min;  // longer than any test waits
    settings.log = [this](log_level, std::string_view line) {
      const std::lock_guard lock{mutex_};
      log_ += std::string{line} + '\n';
    };
    return connect("sqlite:" + path, settings);
  }

  std::string log() {
    const std::lock_guard lock{mutex_};
    return log_;
  }

  const temporary_folder folder;
  const std::string path = folder.path() / "locks.db";

 private:
  std::mutex mutex_;
  std::string log_;
};

TEST_F(side_files_test, the_holder_learns_at_once_that_the_log_was_deleted_and_the_client_goes_on) {
  const client db = new_client();
  const hold held = mutex{db, "a"}.acquire();
  std::filesystem::remove(path + "-wal");
  ASSERT_TRUE(eventually([&] { return !held.valid(); })) << log();
  // Either the lease or the lock's row is missed first.
  EXPECT_THAT(held.loss(), testing::AnyOf(loss::expired, loss::gone));
  EXPECT_TRUE((mutex{db, "b"}.try_acquire_for(30s)));
}

TEST_F(side_files_test, without_its_shared_memory_the_client_reconnects_and_the_hold_stays) {
  const client db = new_client();
  const hold held = mutex{db, "a"}.acquire();
  std::filesystem::remove(path + "-shm");
  ASSERT_TRUE(eventually([&] { return db.stats().reconnects >= 1; })) << log();
  EXPECT_FALSE((mutex{new_client(), "a"}.try_acquire()));
  EXPECT_TRUE(held.valid());
}

}  // namespace
}  // namespace rowlock::test

#endif
