#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;

// The database has tables with another prefix, but none with this one.
class unmigrated_test : public cli_test {
 protected:
  command_result unmigrated(words line) {
    line.insert(line.begin(), {"--prefix", "nothing_"});
    return rowlock(line);
  }
};

TEST_P(unmigrated_test, each_command_says_78_and_what_to_run) {
  const std::vector<words> lines{{"list"},  {"show", "job"},        {"queue", "job"},
                                 {"sweep"}, {"gc", "--idle", "1d"}, {"release", "job", "--force"},
                                 {"epoch"}, {"epoch", "raise"},     {"run", "job", "--", "echo", "ran"}};
  for (const auto& line : lines) {
    const auto result = unmigrated(line);
    EXPECT_EQ(result.exit_code, 78) << line[0] << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("migrate up")) << line[0];
    EXPECT_EQ(result.out, "") << line[0];
  }
}

TEST_P(unmigrated_test, migrate_tells_the_state) {
  EXPECT_EQ(unmigrated({"migrate", "status"}).exit_code, 0);
  EXPECT_THAT(unmigrated({"migrate", "status"}).out, HasSubstr("pending"));
  EXPECT_EQ(unmigrated({"migrate", "verify"}).exit_code, 78);
  EXPECT_EQ(unmigrated({"migrate", "adopt"}).exit_code, 78);
}

TEST_P(unmigrated_test, a_missing_database_is_told_so) {
  if (GetParam() == "sqlite") GTEST_SKIP() << "a missing file is told in connection_test";
  auto url = store->url();
  const auto path = url.find('/', url.find("//") + 2);
  url = url.substr(0, path) + "/no_such_database" +
        (url.find('?') == std::string::npos ? "" : url.substr(url.find('?')));
  for (const auto& line : std::vector<words>{{"list"}, {"run", "job", "--", "true"}}) {
    const auto result = rowlock_alone(line, {{"ROWLOCK_URL", url}});
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr("create the database"));
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(unmigrated_test);

}  // namespace rowlock::test
