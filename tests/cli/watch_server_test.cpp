// `rowlock watch` on a server of the test's own, which goes away and comes back.
#include "cli/cli_test.hpp"
#include "own_server.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

namespace rowlock::test {

using testing::HasSubstr;
using testing::MatchesRegex;

class watch_server_test : public testing::TestWithParam<std::string> {
 protected:
};

TEST_P(watch_server_test, says_once_that_the_database_is_away_and_goes_on) {
  const auto server = make_own_server(GetParam());
  migrator{server->url()}.up();
  const std::map<std::string, std::string> environment{{"ROWLOCK_URL", server->url()}};
  const auto acquired = rowlock_alone({"acquire", "job", "--ttl", "1h"}, environment);
  ASSERT_EQ(acquired.exit_code, 0) << acquired.err;
  const auto receipt = acquired.out.substr(0, acquired.out.find('\n'));
  const auto watching = start_rowlock({"watch", "--interval", "100ms"}, environment);
  EXPECT_THAT(watching->read_line(), HasSubstr("  job  held by "));

  server->crash();
  words said{watching->read_error_line()};
  server->start();
  while (said.back().find("the database answers again") == std::string::npos)
    said.push_back(watching->read_error_line());
  EXPECT_THAT(said, testing::SizeIs(testing::Le(3))) << "not a line for each look that fails";
  EXPECT_THAT(said, testing::Each(testing::StartsWith("rowlock: "))) << "a driver writes nothing by itself";
  ASSERT_EQ(rowlock_alone({"release", "--receipt", receipt}, environment).exit_code, 0);
  // `rowlock watch` may look between the two steps of that release.
  std::string line = watching->read_line();
  if (line.find("held by") != std::string::npos) line = watching->read_line();
  EXPECT_THAT(line, MatchesRegex("20[0-9T:-]+Z  job  free")) << "what has not changed is not shown again";
  watching->send(SIGTERM);
  EXPECT_EQ(watching->wait().exit_code, 128 + SIGTERM);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(watch_server_test);
INSTANTIATE_TEST_SUITE_P(servers, watch_server_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace rowlock::test
