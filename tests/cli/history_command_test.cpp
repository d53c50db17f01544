#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class history_command_test : public cli_test {
 protected:
  words events(const std::string& name) {
    words result;
    for (const auto& line : json_of({"history", name})) result.push_back(line.at("event"));
    return result;
  }
};

TEST_P(history_command_test, tells_what_happened_to_a_recorded_name) {
  EXPECT_EQ(rowlock({"history", "--record", "billing/*", "--keep", "100", "--age", "2d"}).exit_code, 0);
  auto holder = hold("billing/a", {"--application", "nightly"});
  auto waiter = wait_for("billing/a");
  EXPECT_EQ(rowlock({"release", "billing/a", "--ask", "--reason", "deploy", "--within", "0"}).exit_code, 75);
  EXPECT_EQ(rowlock({"release", "billing/a", "--force"}).exit_code, 0);
  EXPECT_EQ(waiter->wait().exit_code, 0);
  EXPECT_EQ(holder->wait().exit_code, 76);
  rowlock({"run", "other", "--", "true"});

  EXPECT_THAT(events("billing/a"),
              ElementsAre("granted", "queued", "release requested", "forced", "handed over", "released"));
  const auto lines = json_of({"history", "billing/a"});
  EXPECT_EQ(lines[0].at("application"), "nightly");
  EXPECT_EQ(lines[0].at("command"), "sh");
  EXPECT_EQ(lines[0].at("pid"), holder->pid());
  EXPECT_EQ(lines[3].at("token"), lines[0].at("token"));
  EXPECT_THAT(lines[2].at("detail").get<std::string>(),
              MatchesRegex("by .+@.+:[0-9]+ rowlock release: deploy"));
  EXPECT_THAT(
      rowlock({"history", "billing/a"}).out,
      MatchesRegex("TIME +EVENT +TOKEN +WHO +DETAIL\n20[0-9T:-]+Z +granted +[0-9]+ +.+@.+:[0-9]+ nightly: "
                   "sh\n(.|\n)*"));
  EXPECT_EQ(json_of({"history", "billing/a", "--limit", "2"}).size(), 2U);
  const auto none = rowlock({"history", "other"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("'other' has no history"));
}

TEST_P(history_command_test, lists_and_ends_what_is_recorded) {
  EXPECT_THAT(json_of({"history", "--patterns"}), IsEmpty());
  rowlock({"history", "--record", "a"});
  const auto recorded = json_of({"history", "--patterns"});
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_EQ(recorded[0].at("pattern"), "a");
  EXPECT_EQ(recorded[0].at("keep"), 1000);
  EXPECT_EQ(recorded[0].at("age_h"), 720);
  EXPECT_THAT(rowlock({"history", "--patterns"}).out, MatchesRegex("PATTERN +KEEP +AGE\na +1000 +30d\n"));
  rowlock({"run", "a", "--", "true"});
  EXPECT_EQ(rowlock({"history", "--stop", "a"}).exit_code, 0);
  EXPECT_EQ(rowlock({"history", "--stop", "a"}).exit_code, 1);
  rowlock({"run", "a", "--", "true"});
  EXPECT_THAT(events("a"), ElementsAre("granted", "released"));
  rowlock({"gc", "--idle", "1d"});
  EXPECT_EQ(rowlock({"history", "a"}).exit_code, 1);
}

TEST_P(history_command_test, refuses_wrong_words) {
  for (const words& wrong : std::vector<words>{{"history"},
                                               {"history", "--record", "a*b"},
                                               {"history", "a", "--record", "b"},
                                               {"history", "a", "--keep", "3"},
                                               {"history", "--record", "a", "--keep", "0"},
                                               {"history", "--record", "a", "--stop", "a"},
                                               {"history", "--record", "a", "--age", "x"}}) {
    EXPECT_EQ(rowlock(wrong).exit_code, 64) << testing::PrintToString(wrong);
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(history_command_test);

}  // namespace rowlock::test
