// What the tests rely on in the servers that they start for themselves.
#include "own_server.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace rowlock::test {

namespace {

class own_server_start_test : public testing::TestWithParam<std::string> {
 protected:
  // The files in which a server writes the number of its process. They stay when the server is killed.
  static std::vector<std::string> number_files(const own_server& server) {
    const auto url = server.local_url();
    const auto path = url.substr(url.find("/tmp/"));
    if (GetParam() == "mysql") return {path + ".lock"};
    return {path + "/data/postmaster.pid", path + "/.s.PGSQL.5432.lock"};
  }
};

// Numbers are used again soon: a machine that runs the tests starts thousands of threads a second.
TEST_P(own_server_start_test, does_not_mind_that_another_server_has_the_number_of_its_last_process) {
  const auto server = make_own_server(GetParam());
  const auto another = make_own_server(GetParam());
  server->kill();
  std::string number;
  ASSERT_TRUE(std::getline(std::ifstream{number_files(*another).front()}, number));
  for (const auto& left : number_files(*server)) {
    ASSERT_TRUE(std::ifstream{left}) << left;
    std::ofstream{left} << number << '\n';
  }
  EXPECT_NO_THROW(server->start());
}

// MariaDB leaves no such file.
INSTANTIATE_TEST_SUITE_P(stores, own_server_start_test, testing::ValuesIn(selected_of({"postgres", "mysql"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(own_server_start_test);

}  // namespace

}  // namespace rowlock::test
