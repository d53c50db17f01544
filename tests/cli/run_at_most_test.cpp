// rowlock run --at-most.
#include "cli/cli_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

// On a busy machine the time may be over before the command has begun. So one of a few tries must be in time.
class run_at_most_test : public cli_test {
 protected:
  static constexpr int tries_at_most = 5;

  // Returns false if the command ends without a line.
  static bool says_ready(command_process& process) {
    try {
      return process.read_line() == "ready";
    } catch (const std::runtime_error&) {
      return false;
    }
  }
};

TEST_P(run_at_most_test, ends_the_command_and_releases_the_lock) {
  std::unique_ptr<command_process> process;
  for (int tries = 0; !process; ++tries) {
    ASSERT_LT(tries, tries_at_most);
    process = start({"run", "job", "--at-most", "300ms", "--", "sh", "-c",
                     "trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.01; done"});
    if (!says_ready(*process)) process.reset();
  }
  // The time may also be over before the waiter is queued, so the test does not wait for that.
  auto waiter = start({"run", "job", "--", "echo", "mine"});
  const auto result = process->wait();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_EQ(result.out, "ready\nterm\n");
  EXPECT_THAT(result.err, HasSubstr("--at-most"));
  EXPECT_EQ(waiter->wait().out, "mine\n");
}

TEST_P(run_at_most_test, kills_a_command_that_stays_and_its_children) {
  process_handle in_background;
  for (int tries = 0; tries < tries_at_most && !in_background.runs(); ++tries) {
    auto process =
        start({"run", "job", "--at-most", "500ms", "--kill-after", "200ms", "--", "sh", "-c",
               "trap '' TERM; (while :; do sleep 0.01; done) & echo $!; while :; do sleep 0.01; done"});
    try {
      in_background = process_handle{std::stoi(process->read_line())};
    } catch (const std::runtime_error&) {
      // The time was over before the command ran.
    }
    const bool was_in_time = in_background.runs();
    EXPECT_EQ(process->wait().exit_code, 124);
    if (was_in_time) break;
  }
  EXPECT_NE(in_background.pid(), 0) << "the command never ran in time";
  EXPECT_FALSE(in_background.runs());
  EXPECT_THAT(json_of({"show", "job"}).at(0).at("holders"), IsEmpty());
}

TEST_P(run_at_most_test, lets_a_stopped_command_clean_up) {
  command_result result;
  for (int tries = 0; tries < tries_at_most && result.out.empty(); ++tries) {
    result = rowlock({"run", "job", "--at-most", "300ms", "--", "sh", "-c",
                      "trap 'echo term; exit 0' TERM; kill -STOP $$; echo went on"});
    EXPECT_EQ(result.exit_code, 124);
  }
  EXPECT_EQ(result.out, "term\n");
}

TEST_P(run_at_most_test, leaves_a_command_alone_that_ends_in_time) {
  const auto result = rowlock({"run", "job", "--at-most", "1h", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(without_wait_reports(result.err), "");
}

// The time that the command waits for the lock does not count.
TEST_P(run_at_most_test, begins_when_the_command_does) {
  auto session = store->open()->connect();
  int code = 124;
  for (int tries = 0; tries < tries_at_most && code == 124; ++tries) {
    auto holder = hold("job");
    auto waiter = wait_for("job", {"--at-most", "1s"});
    eventually("it has waited longer than that", [&] {
      return session->show("job")->holders.at(0).held_for > std::chrono::milliseconds{1500};
    });
    EXPECT_EQ(holder->wait().exit_code, 0);
    code = waiter->wait().exit_code;
  }
  EXPECT_EQ(code, 0);
}

TEST_P(run_at_most_test, a_loss_is_reported_rather_than_the_time) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds at_most{2};
  int code = 124;
  bool was_in_time = false;  // false: the time was over before the loss
  for (int tries = 0; tries < tries_at_most && !was_in_time; ++tries) {
    const auto begun = clock::now();
    auto process = start({"run", "job", "--at-most", "2s", "--", "sh", "-c", "echo ready; exec sleep 600"});
    if (!says_ready(*process)) continue;
    process->send(SIGSTOP);  // so that rowlock learns of the loss and of the time at once
    const auto stopped = clock::now();
    was_in_time = stopped - begun < at_most;
    EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
    eventually("the time is over", [&] { return clock::now() > stopped + at_most; });
    process->send(SIGCONT);
    code = process->wait().exit_code;
  }
  EXPECT_EQ(code, 76);
}

TEST_P(run_at_most_test, refuses_no_time) {
  EXPECT_EQ(rowlock({"run", "job", "--at-most", "0", "--", "true"}).exit_code, 64);
  EXPECT_EQ(rowlock({"run", "job", "--at-most", "soon", "--", "true"}).exit_code, 64);
}

ROWLOCK_FOR_EACH_SQL_STORE(run_at_most_test);

}  // namespace rowlock::test
