// run --shared, --exclusive, --permits and --capacity, and how they are listed.
#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::MatchesRegex;

class run_shared_test : public cli_test {
 protected:
  int try_run(words options) {
    options.insert(options.begin(), {"run", "job", "--no-wait"});
    options.insert(options.end(), {"--", "true"});
    return rowlock(options).exit_code;
  }
};

TEST_P(run_shared_test, readers_share_and_writers_do_not) {
  auto reader = hold("job", {"--shared"});
  EXPECT_EQ(try_run({"--shared"}), 0);
  EXPECT_EQ(try_run({"--exclusive"}), 75);
  auto writer = wait_for("job", {"-x"});
  EXPECT_EQ(try_run({"-s"}), 75) << "somebody waits";
  reader->close_input();
  EXPECT_EQ(writer->wait().out, "mine\n");
}

TEST_P(run_shared_test, permits_are_counted) {
  auto two = hold("job", {"--permits", "2", "--capacity", "3"});
  EXPECT_EQ(try_run({"--capacity", "3"}), 0);
  EXPECT_EQ(try_run({"--permits", "2", "--capacity", "3"}), 75);
  const auto told = rowlock({"run", "job", "--capacity", "3", "--", "sh", "-c", "echo $ROWLOCK_TOKEN"}).out;
  EXPECT_EQ(told, std::to_string(json_of({"show", "job"}).at(0).at("token").get<long long>()) + "\n");
}

TEST_P(run_shared_test, another_kind_or_capacity_is_an_error) {
  rowlock({"run", "job", "--capacity", "3", "--", "true"});
  for (const words& options : std::vector<words>{{}, {"--shared"}, {"--capacity", "4"}}) {
    words line{"run", "job"};
    line.insert(line.end(), options.begin(), options.end());
    line.insert(line.end(), {"--", "true"});
    const auto result = rowlock(line);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("semaphore with 3 permits"));
  }
}

TEST_P(run_shared_test, options_that_contradict_are_refused) {
  for (const words& options : std::vector<words>{{"--shared", "--exclusive"},
                                                 {"--shared", "--capacity", "2"},
                                                 {"--permits", "2"},
                                                 {"--permits", "0", "--capacity", "2"},
                                                 {"--permits", "3", "--capacity", "2"}}) {
    EXPECT_EQ(try_run(options), 64) << options[0];
  }
}

TEST_P(run_shared_test, are_listed_with_their_kinds_weights_and_modes) {
  auto two = hold("job", {"--permits", "2", "--capacity", "3"});
  auto one = hold("job", {"--capacity", "3"});
  auto waiter = wait_for("job", {"--permits", "3", "--capacity", "3"});
  const auto lock = json_of({"show", "job"}).at(0);
  EXPECT_EQ(lock.at("kind"), "semaphore");
  EXPECT_EQ(lock.at("capacity"), 3);
  EXPECT_EQ(lock.at("in_use"), 3);
  EXPECT_EQ(lock.at("fair"), true);
  ASSERT_EQ(lock.at("holders").size(), 2U);
  EXPECT_EQ(lock.at("holders")[0].at("pid"), two->pid());
  EXPECT_EQ(lock.at("holders")[0].at("weight"), 2);
  EXPECT_EQ(lock.at("holders")[0].at("mode"), "shared");
  EXPECT_EQ(lock.at("holders")[1].at("weight"), 1);
  const auto waiting = json_of({"queue", "job"}).at(0);
  EXPECT_EQ(waiting.at("weight"), 3);
  EXPECT_EQ(waiting.at("mode"), "shared");
  EXPECT_THAT(rowlock({"list"}).out,
              MatchesRegex("NAME(.|\n)*\njob +semaphore +3/3 (.|\n)* and 1 more(.|\n)*"));
  EXPECT_THAT(rowlock({"show", "job"}).out, HasSubstr("shared, 2 of 3"));
  EXPECT_THAT(rowlock({"queue", "job"}).out, HasSubstr("shared"));
  const auto hold_id = lock.at("holders")[0].at("hold_id").get<std::string>();
  EXPECT_EQ(rowlock({"release", "job", "--hold", hold_id, "--force"}).exit_code, 0);
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("holders").size(), 1U);
  EXPECT_EQ(two->wait().exit_code, 76);
}

TEST_P(run_shared_test, a_writer_is_listed_with_the_whole) {
  auto writer = hold("job", {"--exclusive"});
  const auto lock = json_of({"show", "job"}).at(0);
  EXPECT_EQ(lock.at("kind"), "shared_mutex");
  EXPECT_EQ(lock.at("holders")[0].at("mode"), "exclusive");
  EXPECT_EQ(lock.at("holders")[0].at("weight"), lock.at("capacity"));
}

ROWLOCK_FOR_EACH_SQL_STORE(run_shared_test);

}  // namespace rowlock::test
