// rowlock run --at-most.
#include "cli/cli_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

class run_at_most_test : public cli_test {};

TEST_P(run_at_most_test, ends_the_command_and_releases_the_lock) {
  auto process = start({"run", "job", "--at-most", "300ms", "--", "sh", "-c",
                        "trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.01; done"});
  EXPECT_EQ(process->read_line(), "ready");
  // On a busy machine the time may be up before the waiter is queued, so the test does not wait for that.
  auto waiter = start({"run", "job", "--", "echo", "mine"});
  const auto result = process->wait();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.out, "ready\nterm\n");
  EXPECT_THAT(result.err, HasSubstr("--at-most"));
  EXPECT_EQ(waiter->wait().out, "mine\n");
}

TEST_P(run_at_most_test, kills_a_command_that_stays_and_its_children) {
  auto process =
      start({"run", "job", "--at-most", "100ms", "--kill-after", "200ms", "--", "sh", "-c",
             "trap '' TERM; (while :; do sleep 0.01; done) & echo $!; while :; do sleep 0.01; done"});
  const pid_t in_background = std::stoi(process->read_line());
  EXPECT_EQ(process->wait().exit_code, 124);
  EXPECT_FALSE(runs(in_background));
  EXPECT_THAT(json_of({"show", "job"}).at(0).at("holders"), IsEmpty());
}

TEST_P(run_at_most_test, lets_a_stopped_command_clean_up) {
  auto process = start({"run", "job", "--at-most", "300ms", "--", "sh", "-c",
                        "trap 'echo term; exit 0' TERM; kill -STOP $$; echo went on"});
  const auto result = process->wait();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.out, "term\n");
}

TEST_P(run_at_most_test, leaves_a_command_alone_that_ends_in_time) {
  const auto result = rowlock({"run", "job", "--at-most", "1h", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "");
}

// The time that the command waits for the lock does not count.
TEST_P(run_at_most_test, begins_when_the_command_does) {
  auto holder = hold("job");
  auto waiter = wait_for("job", {"--at-most", "1s"});
  auto session = store->open()->connect();
  eventually("it has waited longer than that",
             [&] { return session->show("job")->holders.at(0).held_for > std::chrono::milliseconds{1500}; });
  EXPECT_EQ(holder->wait().exit_code, 0);
  EXPECT_EQ(waiter->wait().exit_code, 0);
}

TEST_P(run_at_most_test, a_loss_is_reported_rather_than_the_time) {
  auto process = start({"run", "job", "--at-most", "2s", "--", "sh", "-c", "echo ready; exec sleep 600"});
  EXPECT_EQ(process->read_line(), "ready");
  process->send(SIGSTOP);  // so that rowlock learns of the loss and of the time at once
  const auto over = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  eventually("the time is over", [&] { return std::chrono::steady_clock::now() > over; });
  process->send(SIGCONT);
  EXPECT_EQ(process->wait().exit_code, 76);
}

TEST_P(run_at_most_test, refuses_no_time) {
  EXPECT_EQ(rowlock({"run", "job", "--at-most", "0", "--", "true"}).exit_code, 64);
  EXPECT_EQ(rowlock({"run", "job", "--at-most", "soon", "--", "true"}).exit_code, 64);
}

ROWLOCK_FOR_EACH_SQL_STORE(run_at_most_test);

}  // namespace rowlock::test
