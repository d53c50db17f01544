#include "cli/cli_test.hpp"

#include "support/shortest_time.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

class run_wait_test : public cli_test {};

TEST_P(run_wait_test, busy_is_75) {
  auto holder = hold("job");
  const auto result = rowlock({"run", "job", "-n", "--", "echo", "mine"});
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_THAT(result.err, HasSubstr("'job' is busy"));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(rowlock({"run", "job", "--wait", "0", "--", "true"}).exit_code, 75);
  EXPECT_EQ(holder->wait().exit_code, 0);
}

// A script takes 75 for "somebody else does the job". If contention had that exit code, nobody would do the
// job.
TEST_P(run_wait_test, a_row_that_nobody_holds_and_another_transaction_keeps_is_69) {
  EXPECT_EQ(rowlock({"run", "job", "--", "true"}).exit_code, 0);
  const bool has_rows = store->can(capability::row_locks);
  const auto foreign = has_rows ? store->lock_row("job") : store->stall_renewals();
  const std::chrono::milliseconds bound{has_rows ? 1900 : 5000};
  const auto took = shortest_time(bound, [&] {
    const auto result = rowlock({"run", "job", "-n", "--", "echo", "mine"});
    EXPECT_EQ(result.exit_code, 69) << result.err;
    EXPECT_THAT(result.out, "");
  });
  EXPECT_LT(took, bound) << "a second for the answer, and not a close's limit more";
}

TEST_P(run_wait_test, another_code_replaces_it) {
  auto holder = hold("job");
  EXPECT_EQ(rowlock({"run", "job", "-n", "-E", "9", "--", "true"}).exit_code, 9);
  EXPECT_EQ(rowlock({"run", "job", "--wait", "50ms", "-E", "0", "--", "false"}).exit_code, 0);
  EXPECT_EQ(rowlock({"run", "free", "-n", "-E", "9", "--", "true"}).exit_code, 0);
}

TEST_P(run_wait_test, gives_up_after_the_wait_and_leaves_no_trace) {
  auto holder = hold("job");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(rowlock({"run", "job", "--wait", "300ms", "--", "true"}).exit_code, 75);
  const auto waited = std::chrono::steady_clock::now() - before;
  EXPECT_GE(waited, std::chrono::milliseconds{300});
  EXPECT_LT(waited, std::chrono::seconds{10});
  EXPECT_THAT(json_of({"queue", "job"}), IsEmpty());
}

TEST_P(run_wait_test, waits_for_its_turn) {
  auto holder = hold("job");
  auto waiter = wait_for("job");
  EXPECT_EQ(holder->wait().exit_code, 0);
  const auto result = waiter->wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "mine\n");
}

TEST_P(run_wait_test, a_signal_ends_the_wait) {
  auto holder = hold("job");
  for (const int signal : {SIGTERM, SIGINT}) {
    auto waiter = wait_for("job");
    waiter->send(signal);
    const auto result = waiter->wait();
    EXPECT_EQ(result.exit_code, 128 + signal);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(json_of({"queue", "job"}), IsEmpty());
  }
}

TEST_P(run_wait_test, a_killed_holder_is_succeeded_when_its_lease_has_expired_and_not_before) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  auto holder = hold("job");
  auto waiter = wait_for("job");
  const auto session = store->open()->connect();
  const auto before = session->show("job")->holders.at(0);
  holder->send(SIGKILL);
  eventually("rowlock has ended", [&] { return !process_handle{holder->pid()}.runs(); });
  // The lease expires no earlier than that.
  const auto expires = clock::now() + 3500ms;
  store->expire(before.lease.id, -3500ms);
  for (bool is_early = true; is_early;) {
    const auto seen = session->show("job");
    is_early = clock::now() < expires;
    if (!is_early) continue;
    ASSERT_EQ(seen->holders.size(), 1U);
    ASSERT_EQ(seen->holders[0].hold, before.hold);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(waiter->wait().out, "mine\n");
}

ROWLOCK_FOR_EACH_SQL_STORE(run_wait_test);

}  // namespace rowlock::test
