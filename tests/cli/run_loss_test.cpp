#include "cli/cli_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;

class run_loss_test : public cli_test {
 protected:
  // Starts a command that prints its pid, and "term" when SIGTERM comes. Then it ends, or stays.
  std::unique_ptr<command_process> start_stubborn(bool stays, const words& options) {
    words arguments{"run", "job"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::string on_term = stays ? "echo term" : "echo term; exit 0";
    arguments.insert(arguments.end(), {"--", "sh", "-c",
                                       "trap '" + on_term + "' TERM; echo $$; while :; do sleep 0.01; done"});
    auto process = start(arguments);
    command_ = process_handle{std::stoi(process->read_line())};
    return process;
  }

  process_handle command_;
};

TEST_P(run_loss_test, forced_release_ends_the_command_with_76) {
  auto process = start_stubborn(false, {"--ttl", "6s"});
  const auto released = rowlock({"release", "job", "--force"});
  EXPECT_EQ(released.exit_code, 0) << released.err;
  EXPECT_EQ(process->read_line(), "term");
  const auto result = process->wait();
  EXPECT_EQ(result.exit_code, 76);
  EXPECT_THAT(result.err, HasSubstr("was lost while the command ran"));
}

TEST_P(run_loss_test, forced_release_kills_a_command_that_stays) {
  auto process = start_stubborn(true, {"--ttl", "6s", "--kill-after", "200ms"});
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(process->read_line(), "term");
  EXPECT_EQ(process->wait().exit_code, 76);
  EXPECT_FALSE(command_.runs());
}

TEST_P(run_loss_test, a_command_that_ends_after_the_loss_is_76_too) {
  auto process = hold("job", {"--ttl", "30s"});
  process->send(SIGSTOP);  // so that rowlock cannot learn of the release before the command ends
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  process->close_input();
  process->send(SIGCONT);
  EXPECT_EQ(process->wait().exit_code, 76);
}

// The lease cannot be renewed: SIGTERM comes while the database still keeps others out. The command of this
// test stays, because the lock would be released as soon as the command has ended.
TEST_P(run_loss_test, ends_the_command_before_the_lease_expires) {
  auto process = start_stubborn(true, {"--ttl", "8s", "--kill-after", "4s"});
  auto session = store->open()->connect();
  auto stalled = store->stall_renewals();
  EXPECT_EQ(process->read_line(), "term");
  const auto seen = session->show("job");
  ASSERT_TRUE(seen && seen->holders.size() == 1);
  EXPECT_GT(seen->holders[0].expires_in.count(), 0);
  stalled.reset();
  command_.signal(SIGKILL);  // so that the test need not wait until rowlock does it
  EXPECT_EQ(process->wait().exit_code, 76);
}

TEST_P(run_loss_test, kills_a_command_that_stays_at_the_deadline) {
  const auto is_told_first = [&] {
    auto process = start_stubborn(true, {"--ttl", "2s", "--kill-after", "500ms"});
    auto stalled = store->stall_renewals();
    eventually("the command is killed", [&] { return !command_.runs(); });
    stalled.reset();
    const auto result = process->wait();
    EXPECT_EQ(result.exit_code, 76);
    return result.out == std::to_string(command_.pid()) + "\nterm\n";
  };
  // If the machine pauses, both signals are due at once, and the command may not hear of the first one.
  bool was_told = false;
  for (int tries = 0; tries < 5 && !was_told; ++tries) was_told = is_told_first();
  EXPECT_TRUE(was_told);
}

TEST_P(run_loss_test, a_renewed_lease_outlives_its_ttl) {
  auto process = hold("job", {"--ttl", "6s", "--kill-after", "100ms"});
  auto session = store->open()->connect();
  eventually("the hold is older than its ttl", [&] {
    const auto seen = session->show("job");
    return seen && !seen->holders.empty() && seen->holders[0].held_for > std::chrono::milliseconds{6500};
  });
  EXPECT_EQ(process->wait().exit_code, 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(run_loss_test);

}  // namespace rowlock::test
