#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::Not;

TEST(suggestion, stands_in_the_message) {
  const std::vector<std::pair<words, std::string>> mistakes{
      {{"lisst"}, "did you mean list?"},
      {{"run", "job", "--wiat", "30s", "--", "true"}, "did you mean --wait?"},
      {{"run", "job", "--no_wait", "--", "true"}, "did you mean --no-wait?"},
      {{"list", "--jsn"}, "did you mean --json?"},
      {{"list", "--ulr=sqlite:x.db"}, "did you mean --url?"},
      {{"migrate", "stauts"}, "did you mean status?"}};
  for (const auto& [line, meant] : mistakes) {
    const auto result = rowlock_alone(line);
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(line);
    EXPECT_THAT(result.err, HasSubstr(meant)) << testing::PrintToString(line);
  }
  EXPECT_THAT(rowlock_alone({"list", "--colour"}).err, Not(HasSubstr("did you mean")));
}

TEST(suggestion, help_and_version_have_short_forms) {
  EXPECT_EQ(rowlock_alone({"help", "run"}).out, rowlock_alone({"run", "--help"}).out);
  EXPECT_EQ(rowlock_alone({"help", "migrate", "up"}).out, rowlock_alone({"migrate", "up", "--help"}).out);
  EXPECT_EQ(rowlock_alone({"help"}).out, rowlock_alone({"--help"}).out);
  EXPECT_EQ(rowlock_alone({"help", "run"}).exit_code, 0);
  EXPECT_EQ(rowlock_alone({"-V"}).out, rowlock_alone({"--version"}).out);
  const auto unknown = rowlock_alone({"help", "lits"});
  EXPECT_EQ(unknown.exit_code, 64);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean list?"));
}

}  // namespace rowlock::test
