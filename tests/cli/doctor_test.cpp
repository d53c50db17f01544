#include "cli/cli_test.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::MatchesRegex;

class doctor_test : public cli_test {};

TEST_P(doctor_test, says_1_and_the_remedy_where_nothing_was_migrated) {
  const auto result = rowlock({"--prefix", "nothing_", "doctor", "--json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const auto first = nlohmann::json::parse(result.out).at(0);
  EXPECT_EQ(first.at("code"), "not-migrated");
  EXPECT_EQ(first.at("severity"), "error");
  EXPECT_THAT(first.at("found"), HasSubstr("nothing_"));
  EXPECT_FALSE(first.at("why").empty());
  EXPECT_EQ(first.at("remedy"), "rowlock --prefix nothing_ migrate up");
}

// The servers of the tests are not as durable as those of a program, so there may be errors.
TEST_P(doctor_test, ends_in_one_line_that_counts) {
  const auto result = rowlock({"doctor"});
  const auto last = result.out.substr(result.out.rfind('\n', result.out.size() - 2) + 1);
  EXPECT_THAT(last, MatchesRegex("[0-9]+ errors?, [0-9]+ warnings?, [0-9]+ unknown, [0-9]+ notes?\n"));
  EXPECT_EQ(result.exit_code, last.starts_with("0 errors") ? 0 : 1) << result.out << result.err;
  const auto unmigrated = rowlock({"--prefix", "nothing_", "doctor"}).out;
  EXPECT_THAT(unmigrated, HasSubstr("error: not-migrated\n  found:  "));
  EXPECT_THAT(unmigrated, HasSubstr("\n  remedy: rowlock --prefix nothing_ migrate up\n"));
}

TEST_P(doctor_test, says_69_where_no_database_can_be_reached) {
  const std::map<std::string, std::string> urls{{"sqlite", "sqlite:/no/such/folder/locks.db"},
                                                {"postgres", "postgresql://u:hush@127.0.0.1:1/db"},
                                                {"mysql", "mysql://u:hush@127.0.0.1:1/db"}};
  const auto result = rowlock_alone({"doctor"}, {{"ROWLOCK_URL", urls.at(dialect_of(GetParam()))}});
  EXPECT_EQ(result.exit_code, 69) << result.err;
  EXPECT_EQ(result.out, "");
}

ROWLOCK_FOR_EACH_SQL_STORE(doctor_test);

}  // namespace rowlock::test
