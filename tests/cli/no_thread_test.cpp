// If too many processes run, the command cannot start a thread, and says so.
#include "cli/cli_test.hpp"

#include <filesystem>

#include <unistd.h>

namespace rowlock::test {

using testing::HasSubstr;

class no_thread_test : public cli_test {
 protected:
  // Each thread would get a stack of this size, which is larger than the address space, so none can be
  // started.
  command_result run_without_threads(words arguments) {
    arguments.insert(arguments.begin(), {"--stack=140737488355328", ROWLOCK_COMMAND_PATH});
    return start_program("prlimit", arguments, environment())->wait();
  }

  // Runs the command as a user who has no other process, with a limit of processes and threads.
  command_result run_with_processes(int limit, words arguments) {
    arguments.insert(arguments.begin(), {"--reuid", "54321", "--regid", "54321", "--clear-groups", "prlimit",
                                         "--nproc=" + std::to_string(limit), ROWLOCK_COMMAND_PATH});
    return start_program("setpriv", arguments, environment())->wait();
  }

  void let_every_user_write() const {
    if (GetParam() != "sqlite") return;
    const std::filesystem::path file{store->url().substr(std::string{"sqlite:"}.size())};
    std::filesystem::permissions(file.parent_path(), std::filesystem::perms::all);
    for (const auto& each : std::filesystem::directory_iterator{file.parent_path()})
      std::filesystem::permissions(each.path(), std::filesystem::perms::all);
  }
};

TEST_P(no_thread_test, even_the_error_is_printed_without_one) {
  for (const words& arguments : {words{"list"}, words{"acquire", "job", "--ttl", "1m"},
                                 words{"run", "job", "--", "true"}, words{"elect", "boss", "--", "true"}}) {
    const auto result = run_without_threads(arguments);
    EXPECT_EQ(result.exit_code, 69) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr("Resource temporarily unavailable")) << arguments[0];
  }
  EXPECT_EQ(run_without_threads({"nonsense"}).exit_code, 64);
}

// Each turn allows one process or thread more, until there are enough for the command.
TEST_P(no_thread_test, each_thread_that_is_missing_is_told) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  let_every_user_write();
  for (const words& arguments : {words{"list"}, words{"run", "job", "--", "true"}}) {
    int refused = 0;
    for (int limit = 1;; ++limit) {
      ASSERT_LT(limit, 30);
      const auto result = run_with_processes(limit, arguments);
      if (result.exit_code == 0) break;
      ++refused;
      EXPECT_EQ(result.exit_code, 69) << arguments[0] << " with " << limit << ": " << result.err;
      EXPECT_THAT(result.err, HasSubstr("Resource temporarily unavailable")) << limit;
    }
    EXPECT_GT(refused, 3);
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(no_thread_test);

}  // namespace rowlock::test
