// A command that waits for a lock says so, and who holds the lock.
#include "cli/cli_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class wait_report_test : public cli_test {
 protected:
  // Lets that much time pass by the database's clock, which the holder's held_for shows. A waiter that is
  // queued now has waited for at least as long then.
  void pass(std::chrono::milliseconds length) {
    auto session = store->open()->connect();
    const auto now = [&] { return session->show("job")->holders.at(0).held_for; };
    const auto until = now() + length;
    eventually("time passes", [&] { return now() > until; });
  }
  std::string holder_pattern(const command_process& holder) {
    return "held by [^ ]+:" + std::to_string(holder.pid()) +
           " rowlock run: sh since [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z \\([0-9.]+m?s\\)";
  }
};

TEST_P(wait_report_test, a_wait_of_more_than_a_second_names_the_holder) {
  auto holder = hold("job");
  auto waiter = wait_for("job");
  std::ignore = waiter->read_error_line();
  EXPECT_EQ(holder->wait().exit_code, 0);
  const auto result = waiter->wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "mine\n");
  EXPECT_THAT(result.err, ContainsRegex("^rowlock: waiting for 'job', for [1-9][0-9.]*s so far; " +
                                        holder_pattern(*holder) + "\n$"));
}

TEST_P(wait_report_test, quiet_and_short_waits_are_silent) {
  auto holder = hold("job");
  auto quiet = wait_for("job", {"-q"});
  pass(std::chrono::milliseconds{1500});
  EXPECT_EQ(holder->wait().exit_code, 0);
  EXPECT_EQ(quiet->wait().err, "");
  // On a busy machine a wait may not be short.
  std::string said = "none was tried";
  for (int tries = 0; tries < 5 && !said.empty(); ++tries) {
    holder = hold("job");
    auto brief = wait_for("job");
    EXPECT_EQ(holder->wait().exit_code, 0);
    said = brief->wait().err;
  }
  EXPECT_EQ(said, "");
}

TEST_P(wait_report_test, busy_names_the_holder) {
  auto holder = hold("job");
  const words tail{"--", "true"};
  for (words line : {words{"run", "job", "-n"}, {"run", "job", "--wait", "50ms"}}) {
    line.insert(line.end(), tail.begin(), tail.end());
    const auto busy = rowlock(line);
    EXPECT_EQ(busy.exit_code, 75);
    EXPECT_THAT(without_wait_reports(busy.err),
                ContainsRegex("^rowlock: 'job' is busy; " + holder_pattern(*holder) + "\n$"));
  }
  const auto taken = rowlock({"acquire", "job", "--ttl", "1m", "-n"});
  EXPECT_THAT(taken.err, ContainsRegex(holder_pattern(*holder)));
  EXPECT_EQ(rowlock({"run", "job", "-n", "-q", "--", "true"}).err, "");
}

TEST_P(wait_report_test, busy_says_that_the_lock_rests) {
  EXPECT_EQ(rowlock({"run", "job", "--min-hold", "1h", "--", "true"}).exit_code, 0);
  const auto busy = rowlock({"run", "job", "-n", "--", "true"});
  EXPECT_EQ(busy.exit_code, 75);
  EXPECT_THAT(busy.err, HasSubstr("held by nobody: it rests for 59.9m"));
}

TEST_P(wait_report_test, verbose_tells_grants_and_releases) {
  const auto result = rowlock({"run", "job", "-v", "--", "true"});
  EXPECT_EQ(result.exit_code, 0);
  const auto token = json_of({"show", "job"}).at(0).at("token").get<long long>();
  EXPECT_THAT(result.err,
              HasSubstr("rowlock: acquired 'job' with token " + std::to_string(token) + " after "));
  EXPECT_THAT(result.err, HasSubstr("rowlock: released 'job'\n"));
  EXPECT_THAT(rowlock({"run", "job", "--", "true"}).err, Not(HasSubstr("acquired")));
}

// A signal ends the wait at once, even while the wait is being reported.
TEST_P(wait_report_test, a_signal_ends_the_wait_and_the_report) {
  auto holder = hold("job");
  auto waiter = wait_for("job", {"-v"});
  waiter->send(SIGTERM);
  const auto result = waiter->wait();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_THAT(result.err, Not(HasSubstr("acquired")));
}

ROWLOCK_FOR_EACH_SQL_STORE(wait_report_test);

}  // namespace rowlock::test
