#include "cli/cli_test.hpp"

#include "cli/scram_server.hpp"
#include "model/ids.hpp"
#include "support/loopback.hpp"
#include "support/shortest_time.hpp"
#include "support/temporary_folder.hpp"
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <sys/socket.h>
#include <unistd.h>

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

// Expects that rowlock does not retry a command that was denied, and reports the denial once.
void expect_denied_at_once(const std::function<command_result(const words&)>& run) {
  for (const auto& line : std::vector<words>{{"run", "job", "--wait", "20s", "--", "true"},
                                             {"run", "job", "--no-wait", "--", "true"},
                                             {"run", "catalog", "--shared", "--wait", "20s", "--", "true"}}) {
    constexpr std::chrono::milliseconds bound{1900};
    const auto took = shortest_time(bound, [&] {
      const auto denied = run(line);
      EXPECT_EQ(denied.exit_code, 77) << denied.err;
      EXPECT_THAT(denied.err, HasSubstr("rowlock migrate grants prints the rights"));
      const auto said = without_wait_reports(denied.err);
      EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << denied.err;
    });
    EXPECT_LT(took, bound) << line[2];
  }
}

}  // namespace

class unreachable_test : public testing::TestWithParam<words> {};

TEST_P(unreachable_test, is_69) {
  words urls;
  if (has("postgres")) {
    urls = {"postgresql://u:hush@127.0.0.1:1/db", "postgresql://u:hush@no.such.host.invalid/db",
            "postgresql://u:hush@/db?host=/nowhere"};
  }
  if (has("mariadb") || has("mysql")) {
    urls.insert(urls.end(), {"mysql://u:hush@127.0.0.1:1/db", "mariadb://u:hush@127.0.0.1:1/db",
                             "mysql://u:hush@no.such.host.invalid/db"});
  }
  if (urls.empty()) GTEST_SKIP() << "no store with a server is selected";
  for (const auto& url : urls) {
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

TEST_F(credentials_test, a_password_that_is_replaced_in_its_file_costs_no_hold) {
  server->run("CREATE ROLE rotates LOGIN PASSWORD 'old'; CREATE SCHEMA rotated AUTHORIZATION rotates");
  const temporary_folder folder;
  const auto file = folder.path() / "url";
  const auto put = [&](const std::string& password) {
    std::ofstream{folder.path() / "new"} << server->url("rotates", password);
    std::filesystem::rename(folder.path() / "new", file);
  };
  put("old");
  const std::map<std::string, std::string> environment{{"ROWLOCK_URL_FILE", file},
                                                       {"ROWLOCK_SCHEMA", "rotated"}};
  ASSERT_EQ(rowlock_alone({"migrate", "up"}, environment).exit_code, 0);
  // The command outlasts the ttl, so the lease must be renewed on a new connection.
  const auto holder =
      start_rowlock({"run", "job", "--ttl", "3s", "--", "sh", "-c", "echo held; sleep 5"}, environment);
  ASSERT_EQ(holder->read_line(), "held");
  server->run("ALTER ROLE rotates PASSWORD 'new'");
  put("new");
  server->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotates'");
  const auto ended = holder->wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_F(credentials_test, a_missing_privilege_is_77) {
  server->run(
      "CREATE ROLE owner LOGIN PASSWORD 'right'; CREATE ROLE guest LOGIN PASSWORD 'right'; "
      "CREATE SCHEMA locks AUTHORIZATION owner; GRANT USAGE ON SCHEMA locks TO guest");
  const auto at = [&](const std::string& user, const words& line) {
    return rowlock_alone(line, {{"ROWLOCK_URL", server->url(user, "right")}, {"ROWLOCK_SCHEMA", "locks"}});
  };
  const auto unable = at("guest", {"migrate", "up"});
  EXPECT_EQ(unable.exit_code, 77);
  EXPECT_THAT(unable.err, HasSubstr("grant this one USAGE and CREATE"));
  EXPECT_EQ(at("owner", {"migrate", "up"}).exit_code, 0);
  EXPECT_EQ(at("owner", {"run", "job", "--", "true"}).exit_code, 0);
  const auto refused = at("guest", {"run", "job", "--", "true"});
  EXPECT_EQ(refused.exit_code, 77) << refused.err;
  server->run(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA locks TO guest; "
      "REVOKE UPDATE ON locks.rowlock_lock FROM guest");
  expect_denied_at_once([&](const words& line) { return at("guest", line); });
}

#ifdef ROWLOCK_TEST_MYSQL

// As credentials_test, on MariaDB and MySQL: with users of this test's own, and a database of which one is
// the owner and that the other may only read.
class mysql_credentials_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    admin = std::make_unique<mysql_connection>(mysql_server_url(GetParam()));
    admin->run("CREATE DATABASE " + name + "; CREATE USER owner_" + name + " IDENTIFIED BY 'right'; " +
               "CREATE USER guest_" + name + " IDENTIFIED BY 'right'; GRANT ALL ON " + name + ".* TO owner_" +
               name + "; GRANT SELECT ON " + name + ".* TO guest_" + name);
  }
  void TearDown() override {
    if (admin) admin->run("DROP DATABASE " + name + "; DROP USER owner_" + name + ", guest_" + name);
  }
  std::string url(const std::string& user, const std::string& password) const {
    const auto whole = with_database(mysql_server_url(GetParam()), name);
    return "mysql://" + user + '_' + name + ':' + password + whole.substr(whole.find('@'));
  }

  const std::string name = "t" + model::id128::random().to_string().substr(0, 12);
  std::unique_ptr<mysql_connection> admin;
};

TEST_P(mysql_credentials_test, a_wrong_password_is_77_and_not_printed) {
  for (const auto& line :
       std::vector<words>{{"list", "-v"}, {"run", "job", "-v", "--", "true"}, {"migrate", "up", "-v"}}) {
    const auto result = rowlock_alone(line, {{"ROWLOCK_URL", url("owner", "hush")}});
    EXPECT_EQ(result.exit_code, 77) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("hush")));
    EXPECT_THAT(result.err, testing::StartsWith("rowlock: "));
  }
  EXPECT_EQ(list_at(url("owner", "right")).exit_code, 78);
  EXPECT_EQ(list_at(url("nobody", "right")).exit_code, 77);
}

// A client needs SELECT, INSERT, UPDATE and DELETE on rowlock's tables; the migrations need all rights on the
// database. Neither needs a right on the whole server.
TEST_P(mysql_credentials_test, a_missing_privilege_is_77) {
  const auto at = [&](const std::string& user, const words& line) {
    return rowlock_alone(line, {{"ROWLOCK_URL", url(user, "right")}});
  };
  EXPECT_EQ(at("guest", {"migrate", "up"}).exit_code, 77);
  const auto migrated = at("owner", {"migrate", "up"});
  EXPECT_EQ(migrated.exit_code, 0) << migrated.err;
  const auto ran = at("owner", {"run", "job", "--", "true"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto refused = at("guest", {"run", "job", "--", "true"});
  EXPECT_EQ(refused.exit_code, 77) << refused.err;
  admin->run("GRANT INSERT, UPDATE, DELETE ON " + name + ".* TO guest_" + name);
  const auto allowed = at("guest", {"run", "job", "--", "true"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  admin->run("REVOKE UPDATE ON " + name + ".* FROM guest_" + name);
  for (const auto* table : {"lease", "meta", "marker", "queue", "permit"}) {
    admin->run("GRANT UPDATE ON " + name + ".rowlock_" + table + " TO guest_" + name);
  }
  expect_denied_at_once([&](const words& line) { return at("guest", line); });
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_credentials_test);

#endif

// The kernel drops signals that would end process 1, the main process of a container.
TEST(process_1_test, is_ended_by_a_signal_while_it_connects) {
  if (::geteuid() != 0) GTEST_SKIP() << "this user may not make a process 1";
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto port = free_port();
  const auto address = loopback(port);
  ASSERT_EQ(::bind(silent, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(silent, 1), 0);
  const auto container = start_program(
      "unshare", {"--pid", "--fork", "--kill-child", ROWLOCK_COMMAND_PATH, "run", "job", "--", "true"},
      {{"ROWLOCK_URL", "postgresql://u@127.0.0.1:" + std::to_string(port) + "/db"}});
  const int connected = ::accept(silent, nullptr, nullptr);
  ASSERT_GE(connected, 0);
  pid_t main_process = 0;
  std::ifstream{fmt::format("/proc/{0}/task/{0}/children", container->pid())} >> main_process;
  ASSERT_GT(main_process, 0);
  ASSERT_EQ(::kill(main_process, SIGTERM), 0);
  EXPECT_EQ(container->wait().exit_code, 128 + SIGTERM);
  ::close(connected);
  ::close(silent);
}

}  // namespace rowlock::test
