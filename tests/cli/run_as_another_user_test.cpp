// A command whose processes belong to another user, as below sudo. rowlock may not end them. In these tests
// rowlock runs as root without the right to signal other users' processes, because a test cannot count on
// sudo.
#include "cli/cli_test.hpp"

#include <csignal>

#include <unistd.h>

namespace rowlock::test {

using testing::HasSubstr;
using testing::Not;

class run_as_another_user_test : public cli_test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
  }
  void TearDown() override { command_.signal(SIGKILL); }

  // Starts a command with a shell of another user that prints its pid, and ends when its input ends. The
  // script calls the function `it` to start that shell.
  std::unique_ptr<command_process> start_foreign(words options, const std::string& script = "it",
                                                 const std::string& subcommand = "run") {
    words arguments{"--bounding-set",     "-kill",    "--inh-caps", "-kill",
                    ROWLOCK_COMMAND_PATH, subcommand, "job"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string it =
        "it() { setpriv --reuid 65534 --clear-groups sh -c 'trap \"\" TERM; echo $$; while read -r line; do "
        "echo $line; done'; }; ";
    arguments.insert(arguments.end(), {"--", "sh", "-c", it + script});
    auto variables = environment();
    auto process = start_program("setpriv", arguments, variables);
    command_ = process_handle{std::stoi(process->read_line())};
    return process;
  }

  // Reads standard error up to a line with the text. The client's own lines may come before or after that
  // line.
  static void until_error_says(command_process& process, const std::string& text) {
    while (process.read_error_line().find(text) == std::string::npos) {
    }
  }

  process_handle command_;
};

TEST_P(run_as_another_user_test, a_loss_is_told_with_an_exit_code_of_its_own) {
  auto process = start_foreign({"--ttl", "6s", "--kill-after", "200ms"});
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  const auto told = "process " + std::to_string(command_.pid()) + " runs as another user and cannot be ended";
  until_error_says(*process, "the hold is lost (forced); " + told);
  until_error_says(*process, told + "; it goes on without the lock");
  EXPECT_TRUE(command_.runs());
  EXPECT_TRUE(command_.signal(SIGKILL));
  const auto result = process->wait();
  EXPECT_EQ(result.exit_code, 71);
  EXPECT_THAT(result.err, Not(HasSubstr("ending the command")));
}

// The other user's process runs below a shell of this user, which rowlock can end.
TEST_P(run_as_another_user_test, one_process_of_several_is_noticed) {
  auto process = start_foreign({"--ttl", "6s", "--kill-after", "200ms"}, "exec 3<&0; it <&3 & wait");
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  until_error_says(*process, "cannot be ended; it goes on without the lock");
  EXPECT_TRUE(command_.signal(SIGKILL));
  EXPECT_EQ(process->wait().exit_code, 71);
}

TEST_P(run_as_another_user_test, the_lock_is_kept_while_it_outlives_at_most) {
  std::unique_ptr<command_process> process;
  // On a busy machine the time may be over before the other user's shell runs. So one of a few tries must be in time.
  for (int tries = 0; !process; ++tries) {
    ASSERT_LT(tries, 5);
    try {
      process = start_foreign({"--at-most", "300ms", "--kill-after", "100ms"});
    } catch (const std::runtime_error&) {
      // The command has ended without a line.
    }
  }
  until_error_says(*process, "--at-most");
  until_error_says(*process, "cannot be ended; the lock stays held until it ends");
  EXPECT_EQ(rowlock({"run", "job", "-n", "--", "true"}).exit_code, 75);
  const auto result = process->wait();  // closes the command's input, so the command ends
  EXPECT_EQ(result.exit_code, 71) << result.err;
  EXPECT_EQ(rowlock({"run", "job", "-n", "--", "true"}).exit_code, 0);
}

TEST_P(run_as_another_user_test, a_signal_that_cannot_be_passed_on_is_told) {
  auto process = start_foreign({}, "trap : TERM; it");
  process->send(SIGTERM);
  until_error_says(*process, "runs as another user and cannot be sent SIGTERM");
  EXPECT_EQ(process->wait().exit_code, 0);
}

TEST_P(run_as_another_user_test, another_command_is_not_started_beside_it) {
  auto process = start_foreign({"--repeat", "--ttl", "6s", "--kill-after", "200ms"}, "it", "elect");
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  until_error_says(*process, "cannot be ended; it goes on without the lock");
  EXPECT_TRUE(command_.signal(SIGKILL));
  EXPECT_EQ(process->wait().exit_code, 71);
}

ROWLOCK_FOR_EACH_SQL_STORE(run_as_another_user_test);

}  // namespace rowlock::test
