// Whatever standard error leads to, it neither delays nor ends the rowlock command.
#include "cli/cli_test.hpp"
#include "cli/full_pipe.hpp"

#include <csignal>

namespace rowlock::test {

class stderr_test : public cli_test {
 protected:
  // Expects that a waiter which has had to report its wait is granted the lock.
  void expect_grant_after_report(const std::string& redirection) {
    auto holder = hold("job");
    auto waiter = start_redirected(redirection, {"run", "job", "--ttl", "30s", "--", "echo", "mine"});
    auto session = store->open()->connect();
    eventually("the waiter is queued", [&] { return !session->queue("job").empty(); });
    std::this_thread::sleep_for(std::chrono::milliseconds{1500});
    EXPECT_EQ(holder->wait().exit_code, 0);
    EXPECT_EQ(waiter->read_line(), "mine");
    EXPECT_EQ(waiter->wait().exit_code, 0);
  }
};

TEST_P(stderr_test, that_blocks_does_not_let_the_command_outlive_its_hold) {
  const full_pipe full;
  auto process = start_redirected(
      "2>" + full.path(), {"run", "job", "--ttl", "3s", "--kill-after", "200ms", "--", "sh", "-c",
                           "exec 2>/dev/null; trap 'echo term' TERM; echo $$; while :; do sleep 0.01; done"});
  const process_handle command{std::stoi(process->read_line())};
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(process->read_line(), "term");
  EXPECT_EQ(process->wait().exit_code, 76);
  EXPECT_FALSE(command.runs());
}

TEST_P(stderr_test, that_blocks_does_not_keep_a_waiter_from_its_grant) {
  const full_pipe full;
  expect_grant_after_report("2>" + full.path());
}

TEST_P(stderr_test, that_is_full_does_not_end_a_waiter) {
  expect_grant_after_report("2>/dev/full");
}

TEST_P(stderr_test, that_cannot_be_written_changes_no_exit_code) {
  auto holder = hold("job");
  for (const std::string redirection : {"2>/dev/full", "2>&-", "2> >(exec true)"}) {
    SCOPED_TRACE(redirection);
    EXPECT_EQ(start_redirected(redirection, {"run", "job", "-n", "--", "true"})->wait().exit_code, 75);
    EXPECT_EQ(start_redirected(redirection, {"show", "nosuch"})->wait().exit_code, 1);
    EXPECT_EQ(start_redirected(redirection, {"show", "--nosuch"})->wait().exit_code, 64);
  }
}

// Otherwise a connection to the database could get the number of the closed descriptor.
TEST_P(stderr_test, that_is_closed_is_opened) {
  const words line{"run", "job", "--", "sh", "-c", "cat && echo out >&2"};
  EXPECT_EQ(start_redirected("2>&- <&-", line)->wait().exit_code, 0);
  EXPECT_EQ(start_redirected(">&-", {"epoch"})->wait().exit_code, 70);
}

ROWLOCK_FOR_EACH_SQL_STORE(stderr_test);

}  // namespace rowlock::test
