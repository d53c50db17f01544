#include "cli/cli_test.hpp"
#include "cli/scram_server.hpp"
#include "support/temporary_folder.hpp"

namespace rowlock::test {

using testing::HasSubstr;
using testing::Not;

namespace {

bool has(const std::string& store) {
  return !selected_of({store}).empty();
}

command_result list_at(const std::string& url) {
  return rowlock_alone({"list"}, {{"ROWLOCK_URL", url}});
}

}  // namespace

class unreachable_test : public testing::TestWithParam<words> {};

TEST_P(unreachable_test, is_69) {
  if (!has("postgres")) GTEST_SKIP() << "postgres is not selected";
  for (const std::string url :
       {"postgresql://u:hush@127.0.0.1:1/db", "postgresql://u:hush@no.such.host.invalid/db",
        "postgresql://u:hush@/db?host=/nowhere"}) {
    const auto result = rowlock_alone(GetParam(), {{"ROWLOCK_URL", url}});
    EXPECT_EQ(result.exit_code, 69) << url << ": " << result.err;
    EXPECT_THAT(result.err, testing::StartsWith("rowlock: "));
    EXPECT_THAT(result.err, Not(HasSubstr("hush")));
  }
}

INSTANTIATE_TEST_SUITE_P(commands, unreachable_test,
                         testing::Values(words{"list"}, words{"run", "job", "--", "true"},
                                         words{"migrate", "up"}));

TEST(connection, a_sqlite_file_that_is_none_is_an_error_of_its_own) {
  if (!has("sqlite")) GTEST_SKIP() << "sqlite is not selected";
  const temporary_folder folder;
  const auto missing = list_at("sqlite:" + (folder.path() / "none.db").string());
  EXPECT_EQ(missing.exit_code, 78) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none.db"));
  const auto no_folder = list_at("sqlite:" + (folder.path() / "none/none.db").string());
  EXPECT_THAT(no_folder.exit_code, testing::AnyOf(69, 78)) << no_folder.err;
  const auto text = list_at("sqlite:/etc/passwd");
  EXPECT_EQ(text.exit_code, 64) << text.err;
  EXPECT_THAT(text.err, testing::StartsWith("rowlock: "));
}

class credentials_test : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (has("postgres")) server = std::make_unique<scram_server>();
  }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override {
    if (!server) GTEST_SKIP() << "postgres is not selected";
  }

  static inline std::unique_ptr<scram_server> server;
};

TEST_F(credentials_test, a_wrong_password_is_77_and_not_printed) {
  server->run("CREATE ROLE app LOGIN PASSWORD 'right'");
  for (const auto& line :
       std::vector<words>{{"list", "-v"}, {"run", "job", "-v", "--", "true"}, {"migrate", "up", "-v"}}) {
    const auto result = rowlock_alone(line, {{"ROWLOCK_URL", server->url("app", "hush")}});
    EXPECT_EQ(result.exit_code, 77) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("hush")));
    EXPECT_THAT(result.err, testing::StartsWith("rowlock: "));
  }
  EXPECT_EQ(list_at(server->url("app", "right")).exit_code, 78);
  EXPECT_EQ(list_at(server->url("nobody", "right")).exit_code, 77);
}

TEST_F(credentials_test, a_missing_privilege_is_77) {
  server->run(
      "CREATE ROLE owner LOGIN PASSWORD 'right'; CREATE ROLE guest LOGIN PASSWORD 'right'; "
      "CREATE SCHEMA locks AUTHORIZATION owner; GRANT USAGE ON SCHEMA locks TO guest");
  const auto at = [&](const std::string& user, const words& line) {
    return rowlock_alone(line, {{"ROWLOCK_URL", server->url(user, "right")}, {"ROWLOCK_SCHEMA", "locks"}});
  };
  EXPECT_EQ(at("guest", {"migrate", "up"}).exit_code, 77);
  EXPECT_EQ(at("owner", {"migrate", "up"}).exit_code, 0);
  EXPECT_EQ(at("owner", {"run", "job", "--", "true"}).exit_code, 0);
  const auto refused = at("guest", {"run", "job", "--", "true"});
  EXPECT_EQ(refused.exit_code, 77) << refused.err;
}

}  // namespace rowlock::test
