#ifdef ROWLOCK_TEST_SQLITE

// Commands on one SQLite file, of which somebody deletes a side file or makes a second name.
#include "cli/cli_test.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>

namespace rowlock::test {

using testing::HasSubstr;
namespace fs = std::filesystem;

class side_files_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "left out with --stores";
    ASSERT_EQ(rowlock({"migrate", "up"}).exit_code, 0);
  }
  std::unique_ptr<command_process> start(const words& arguments) {
    return start_rowlock(arguments, {{"ROWLOCK_URL", "sqlite:" + path}});
  }
  command_result rowlock(const words& arguments) { return start(arguments)->wait(); }

  const temporary_folder folder;
  const std::string path = folder.path() / "locks.db";
};

TEST_F(side_files_test, a_holder_whose_log_is_deleted_learns_that_it_has_lost_its_lock) {
  for (const words& deleted : {words{"-wal", "-shm"}, words{"-wal"}}) {
    SCOPED_TRACE(deleted.size());
    const auto holder = start({"run", "job", "--ttl", "3s", "--", "sh", "-c", "echo held; exec sleep 60"});
    ASSERT_EQ(holder->read_line(), "held");
    for (const auto& end : deleted) fs::remove(path + end);
    const auto result = holder->wait();
    EXPECT_EQ(result.exit_code, 76) << result.err;
    EXPECT_THAT(result.err, HasSubstr("has lost its -wal file"));
  }
}

TEST_F(side_files_test, a_holder_whose_shared_memory_is_deleted_keeps_its_lock) {
  const auto holder = start({"run", "job", "--", "sh", "-c", "echo held; cat"});
  ASSERT_EQ(holder->read_line(), "held");
  fs::remove(path + "-shm");
  EXPECT_THAT(holder->read_error_line(), HasSubstr("has lost its -shm file"));
  EXPECT_EQ(rowlock({"run", "job", "--no-wait", "--", "true"}).exit_code, 75);
  EXPECT_EQ(holder->wait().exit_code, 0);
}

// The log has the latest tokens, because a reader that is killed later keeps the file open.
TEST_F(side_files_test, tokens_rise_after_a_log_was_deleted_that_nobody_had_open) {
  const auto token = [&] {
    const auto run = rowlock({"run", "job", "--", "sh", "-c", "echo $ROWLOCK_TOKEN"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return std::stoll(run.out);
  };
  for (const bool application_writes_first : {false, true}) {
    SCOPED_TRACE(application_writes_first);
    ASSERT_EQ(rowlock({"run", "job", "--", "true"}).exit_code, 0);
    auto latest = 0LL;
    {
      const auto reader = start({"run", "other", "--", "sh", "-c", "echo held; exec sleep 60"});
      ASSERT_EQ(reader->read_line(), "held");
      for (int i = 0; i < 3; ++i) latest = token();
      reader->send(SIGKILL);
      reader->wait();
    }
    for (const char* end : {"-wal", "-shm"}) fs::remove(path + end);
    if (application_writes_first) {
      const auto shop = "CREATE TABLE IF NOT EXISTS shop (item INT); INSERT INTO shop VALUES (1)";
      ASSERT_EQ((command_process{{"sqlite3", path, shop}, {}}.wait().exit_code), 0);
    }
    EXPECT_GT(token(), latest);
  }
}

TEST_F(side_files_test, a_file_with_two_names_is_refused_with_the_remedy) {
  const auto second = path + ".second";
  fs::create_hard_link(path, second);
  for (const auto& name : {path, second}) {
    const auto result = rowlock({"--url", "sqlite:" + name, "run", "job", "--", "true"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("has 2 names (hard links)"));
    EXPECT_THAT(result.err, HasSubstr("make a symbolic link"));
  }
  fs::remove(second);
  EXPECT_EQ(rowlock({"run", "job", "--", "true"}).exit_code, 0);
}

}  // namespace rowlock::test

#endif
