// rowlock elect: one process leads and runs its command.
#include "cli/cli_test.hpp"
#include "cli/taken_hold.hpp"

#include <rowlock/rowlock.hpp>

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

class elect_test : public cli_test {
 protected:
  // Starts a candidate whose command runs until its input ends.
  std::unique_ptr<command_process> candidate(const words& options = {}) {
    words line{"elect", "office"};
    line.insert(line.end(), options.begin(), options.end());
    line.insert(line.end(), {"--", "sh", "-c", "echo leads; cat >/dev/null; exit 3"});
    return start(line);
  }
  // Waits until that many candidates stand by.
  void expect_standing_by(std::size_t count) {
    auto session = store->open()->connect();
    eventually("they stand by", [&] { return session->queue("office").size() == count; });
  }
};

TEST_P(elect_test, the_next_one_leads_when_the_command_ends) {
  auto first = candidate();
  EXPECT_EQ(first->read_line(), "leads");
  auto second = candidate();
  expect_standing_by(1);
  const auto ended = first->wait();
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_EQ(second->read_line(), "leads");
  EXPECT_EQ(second->wait().exit_code, 3);
  EXPECT_EQ(json_of({"show", "office"}).at(0).at("kind"), "election");
}

TEST_P(elect_test, the_next_one_leads_when_the_office_is_lost) {
  auto first = candidate();
  EXPECT_EQ(first->read_line(), "leads");
  auto second = candidate();
  expect_standing_by(1);
  EXPECT_EQ(rowlock({"release", "office", "--force"}).exit_code, 0);
  EXPECT_EQ(second->read_line(), "leads");
  EXPECT_EQ(first->wait().exit_code, 76);
}

TEST_P(elect_test, the_next_one_leads_when_the_leader_is_killed) {
  auto first = candidate();
  EXPECT_EQ(first->read_line(), "leads");
  auto second = candidate();
  expect_standing_by(1);
  const auto lease = store->open()->connect()->show("office")->holders.at(0).lease.id;
  first->send(SIGKILL);
  eventually("it has ended", [&] { return !process_handle{first->pid()}.runs(); });
  store->expire(lease);
  EXPECT_EQ(second->read_line(), "leads");
}

TEST_P(elect_test, repeat_stands_by_again) {
  const auto repeating = [&] {
    return start({"elect", "office", "--repeat", "--", "sh", "-c",
                  "trap 'exit 3' USR1; echo leads; while :; do sleep 0.01; done"});
  };
  auto first = repeating();
  EXPECT_EQ(first->read_line(), "leads");
  auto second = repeating();
  expect_standing_by(1);
  first->send(SIGUSR1);
  EXPECT_EQ(second->read_line(), "leads");
  expect_standing_by(1);
  second->send(SIGUSR1);
  EXPECT_EQ(first->read_line(), "leads");
  expect_standing_by(1);
  second->send(SIGTERM);
  const auto stopped = second->wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGTERM);
  EXPECT_THAT(stopped.err, HasSubstr("the command has exited with 3; standing by for 'office' again"));
  first->send(SIGTERM);
  EXPECT_EQ(first->wait().exit_code, 128 + SIGTERM) << "it does not stand by again";
}

TEST_P(elect_test, repeat_stands_again_after_a_loss) {
  auto process =
      start({"elect", "office", "--ttl", "6s", "--repeat", "--", "sh", "-c", "echo leads; exec sleep 600"});
  EXPECT_EQ(process->read_line(), "leads");
  EXPECT_EQ(rowlock({"release", "office", "--force"}).exit_code, 0);
  EXPECT_EQ(process->read_line(), "leads");
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().exit_code, 128 + SIGTERM);
}

TEST_P(elect_test, repeat_gives_up_on_a_command_that_cannot_be_started) {
  EXPECT_EQ(rowlock({"elect", "office", "--repeat", "--", "no-such-command-in-path"}).exit_code, 127);
}

TEST_P(elect_test, the_command_has_the_token_and_others_see_the_value) {
  auto leader = start({"elect", "office", "--value", "host:8080", "--", "sh", "-c",
                       "echo $ROWLOCK_NAME $ROWLOCK_TOKEN; cat >/dev/null"});
  const auto line = leader->read_line();
  options settings;
  settings.prefix = store->options().prefix;
  const auto db = connect(store->url(), settings);
  const auto seen = election{db, "office"}.observe();
  EXPECT_TRUE(seen.led);
  EXPECT_EQ(seen.value, "host:8080");
  EXPECT_EQ(line, "office " + seen.token.to_string());
  EXPECT_EQ(leader->wait().exit_code, 0);
}

TEST_P(elect_test, without_a_wait_another_leader_is_75) {
  auto leader = candidate();
  EXPECT_EQ(leader->read_line(), "leads");
  const auto result = rowlock({"elect", "office", "-n", "--", "true"});
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_THAT(result.err, HasSubstr("another process leads 'office'"));
  EXPECT_EQ(rowlock({"elect", "office", "--wait", "50ms", "-E", "9", "--", "true"}).exit_code, 9);
  EXPECT_THAT(json_of({"queue", "office"}), IsEmpty());
}

TEST_P(elect_test, refuses_a_value_that_cannot_be_proclaimed_before_the_wait) {
  auto leader = candidate();
  EXPECT_EQ(leader->read_line(), "leads");
  for (const auto& value : {std::string(4097, 'x'), std::string{"\xff"}}) {
    const auto result = rowlock({"elect", "office", "-n", "--value", value, "--", "true"});
    EXPECT_EQ(result.exit_code, 64) << result.err;
  }
}

TEST_P(elect_test, refuses_what_cannot_be_right) {
  for (const words& refused : {words{"elect", "office"},
                               {"elect", "office", "--"},
                               {"elect", "--", "true"},
                               {"elect", "office", "true"},
                               {"elect", "office", "--shared", "--", "true"}}) {
    EXPECT_EQ(rowlock(refused).exit_code, 64) << testing::PrintToString(refused);
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(elect_test);

class elect_on_sqlite_test : public elect_test {};

TEST_P(elect_on_sqlite_test, repeat_stands_again_if_the_office_is_lost_before_the_command_begins) {
  ASSERT_TRUE(take_the_next_hold(*store));
  const auto leader = candidate({"--value", "me", "--repeat"});
  EXPECT_EQ(leader->read_line(), "leads");
  leader->send(SIGTERM);
  EXPECT_THAT(leader->wait().err, HasSubstr("standing by for 'office' again"));
}

TEST_P(elect_on_sqlite_test, whose_office_is_lost_at_once_does_not_say_that_another_leads) {
  ASSERT_TRUE(take_the_next_hold(*store));
  const auto result = rowlock({"elect", "office", "--", "true"});
  EXPECT_EQ(result.exit_code, 76) << result.err;
}

TEST_P(elect_on_sqlite_test, a_lock_that_is_lost_at_once_is_not_busy) {
  ASSERT_TRUE(take_the_next_hold(*store));
  const auto result = rowlock({"run", "job", "--", "true"});
  EXPECT_EQ(result.exit_code, 76) << result.err;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(elect_on_sqlite_test);
INSTANTIATE_TEST_SUITE_P(stores, elect_on_sqlite_test, testing::ValuesIn(selected_of({"sqlite"})),
                         store_test_name);

}  // namespace rowlock::test
