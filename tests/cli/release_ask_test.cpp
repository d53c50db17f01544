// rowlock release --ask, and how rowlock run reacts to it.
#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;

class release_ask_test : public cli_test {
 protected:
  // Where the database sends no wake-ups, the holder learns of a request with its next renewal, which must come soon.
  // But the machine may pause for seconds.
  const words brief{"--ttl", "6s", "--kill-after", "100ms"};
};

TEST_P(release_ask_test, is_noted_by_the_holder_whose_command_goes_on) {
  auto process = hold("job", brief);
  const auto asked = rowlock({"release", "job", "--ask", "--reason", "deploy", "--within", "100ms"});
  EXPECT_EQ(asked.exit_code, 75);
  EXPECT_THAT(asked.err, HasSubstr("still held"));
  const auto shown = json_of({"show", "job"}).at(0);
  EXPECT_EQ(shown.at("request").at("reason"), "deploy");
  EXPECT_EQ(shown.at("request").at("remaining_ms"), 0);
  EXPECT_EQ(process->wait().exit_code, 0);
  EXPECT_FALSE(json_of({"show", "job"}).at(0).contains("request"));
}

TEST_P(release_ask_test, ends_a_command_that_yields_and_waits_for_it) {
  for (const std::string then : {"while :; do sleep 0.05; done", "kill -STOP $$"}) {
    auto process = start({"run", "job", "--ttl", "6s", "--kill-after", "100ms", "--yield", "--", "sh", "-c",
                          "trap 'echo term; exit 7' TERM; echo ready; " + then});
    ASSERT_EQ(process->read_line(), "ready");
    const auto asked = rowlock({"release", "job", "--ask", "--reason", "deploy", "--within", "25s"});
    EXPECT_EQ(asked.exit_code, 0) << asked.err;
    EXPECT_THAT(asked.out, HasSubstr("the holders released"));
    const auto result = process->wait();
    EXPECT_EQ(result.exit_code, 7) << "the hold was not lost";
    EXPECT_THAT(result.err, HasSubstr("somebody requests the release of the lock (deploy)"));
  }
}

TEST_P(release_ask_test, each_request_reaches_the_command) {
  auto process = start({"run", "job", "--ttl", "6s", "--kill-after", "100ms", "--yield", "--", "sh", "-c",
                        "exec 2>/dev/null; trap 'echo term' TERM; echo ready; while :; do sleep 0.05; done"});
  ASSERT_EQ(process->read_line(), "ready");
  for (const std::string reason : {"deploy", "repair"}) {
    EXPECT_EQ(rowlock({"release", "job", "--ask", "--reason", reason, "--within", "100ms"}).exit_code, 75);
    EXPECT_EQ(process->read_line(), "term");
    EXPECT_THAT(process->read_error_line(), HasSubstr("(" + reason + ")"));
  }
  EXPECT_EQ(rowlock({"release", "job", "--ask", "--within", "100ms"}).exit_code, 75);
  EXPECT_EQ(process->read_line(), "term");
  EXPECT_THAT(process->read_error_line(), HasSubstr("the release of the lock; ending"));
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(process->wait().exit_code, 76);
}

TEST_P(release_ask_test, then_takes_it_by_force) {
  auto process = hold("job", brief);
  const auto asked = rowlock({"release", "job", "--ask", "--within", "50ms", "--then-force", "--json"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("\"released\": true"));
  process->close_input();
  EXPECT_EQ(process->wait().exit_code, 76);
}

TEST_P(release_ask_test, of_what_nobody_holds_or_knows) {
  EXPECT_EQ(rowlock({"release", "job", "--ask"}).exit_code, 1);
  EXPECT_EQ(rowlock({"run", "job", "--", "true"}).exit_code, 0);
  const auto asked = rowlock({"release", "job", "--ask"});
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_THAT(asked.err, HasSubstr("nobody held"));
}

TEST_P(release_ask_test, refuses_words_that_do_not_go_together) {
  for (const words& refused : {words{"release", "job", "--ask", "--force"},
                               {"release", "job", "--reason", "x"},
                               {"release", "job", "--then-force"},
                               {"release", "job"}}) {
    EXPECT_EQ(rowlock(refused).exit_code, 64);
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(release_ask_test);

}  // namespace rowlock::test
