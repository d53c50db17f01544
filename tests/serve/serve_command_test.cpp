// The command: its options, its health, its end.
#include "own_server.hpp"
#include "serve/serve_test.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace rowlock::test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class serve_command_test : public serve_test {};

TEST_P(serve_command_test, is_alive_ready_and_ends_with_0) {
  const auto server = start_serve();
  EXPECT_EQ(server.get("/healthz").body, "{\"alive\":true}\n");
  const auto ready = server.get("/readyz");
  EXPECT_EQ(ready.status, 200) << ready.body;
  server.process->send(SIGTERM);
  const auto ended = server.process->wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST_P(serve_command_test, finishes_what_a_client_has_begun_to_ask) {
  const auto server = start_serve();
  http_client client{server.port};
  const std::string first = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string half = "GET /readyz HTTP/1.1\r\nHo";
  client.send(first + half);
  EXPECT_EQ(client.read().status, 200);
  server.process->send(SIGTERM);
  // From then on an answer says that it is the last one.
  eventually("it accepts no more connections", [&] {
    try {
      http_client{server.port};
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  });
  client.send("st: localhost\r\n\r\n");
  const auto answer = client.read();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed_by_server());
  client.close();
  EXPECT_EQ(server.process->wait().exit_code, 0);
}

TEST_P(serve_command_test, ends_with_0_although_another_signal_comes_while_it_ends) {
  // Whether the request was answered. The server drops a connection of which it has read nothing when the first signal
  // comes; then nothing delays its end.
  const auto is_answered = [&] {
    const auto server = start_serve();
    http_client client{server.port};
    client.send("GET /healthz HTTP/1.1\r\nHo");
    server.process->send(SIGTERM);
    while (server.process->read_error_line().find("ending") == std::string::npos) {
    }
    server.process->send(SIGTERM);
    int status = 0;
    try {
      client.send("st: localhost\r\n\r\n");
      status = client.read().status;
    } catch (const std::exception&) {
      // The connection has ended.
    }
    client.close();
    const int code = server.process->wait().exit_code;
    if (status != 200) return false;
    EXPECT_EQ(code, 0);
    return true;
  };
  int tries = 20;
  while (!is_answered() && --tries > 0) {
  }
  EXPECT_GT(tries, 0) << "no request was being read when the first signal came";
}

TEST_P(serve_command_test, is_ready_again_when_the_schema_is) {
  const auto server = start_serve({"--sweep-every", "0", "--metrics-every", "0"});
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_EQ(server.get("/metrics").status, 404) << "they are switched off";
  ASSERT_EQ(rowlock({"migrate", "down"}).exit_code, 0);
  http_answer answer;
  eventually("it is not ready", [&] {
    answer = server.get("/readyz");
    return answer.status == 503;
  });
  EXPECT_THAT(answer.body, AllOf(HasSubstr("not_migrated"), HasSubstr("migrate up")));
  EXPECT_EQ(server.get("/healthz").status, 200);
  ASSERT_EQ(rowlock({"migrate", "up"}).exit_code, 0);
  eventually("it is ready again", [&] { return server.get("/readyz").status == 200; });
}

TEST_P(serve_command_test, needs_tokens_to_listen_for_other_machines) {
  const auto refused = rowlock({"serve", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("--tokens FILE is needed"));
}

TEST_P(serve_command_test, makes_tokens_and_asks_for_them) {
  const auto made = rowlock({"serve", "--new-token", "prometheus", "read"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto after = [&](const std::string& label) {
    const auto begin = made.out.find(label) + label.size();
    return made.out.substr(begin, made.out.find('\n', begin) - begin);
  };
  const temporary_folder folder;
  const auto path = (folder.path() / "tokens").string();
  std::ofstream{path} << after("line:  ") << '\n';
  EXPECT_EQ(rowlock({"serve", "--tokens", path}).exit_code, 64) << "everybody may read it";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);

  const auto server = start_serve({"--tokens", path});
  EXPECT_EQ(server.get("/healthz").status, 200);
  EXPECT_EQ(server.get("/readyz").status, 200);
  EXPECT_EQ(server.get("/metrics").status, 401);
  EXPECT_EQ(server.get("/metrics", "Authorization: Bearer rowlock_0\r\n").status, 401);
  EXPECT_EQ(server.get("/metrics", "Authorization: Bearer " + after("token: ") + "\r\n").status, 200);
  server.process->send(SIGTERM);
  EXPECT_THAT(server.process->wait().err, Not(HasSubstr(after("token: "))));
}

TEST_P(serve_command_test, refuses_impossible_options) {
  for (const words& options :
       {words{"--listen", "example.com:80"}, words{"--metrics-every", "1s"}, words{"--sweep-every", "soon"},
        words{"--tokens", "/nowhere"}, words{"--new-token", "name"}, words{"--new-token", "name", "root"}}) {
    words all{"serve"};
    all.insert(all.end(), options.begin(), options.end());
    const auto refused = rowlock(all);
    EXPECT_EQ(refused.exit_code, 64) << testing::PrintToString(options);
    EXPECT_NE(refused.err, "");
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(serve_command_test);

TEST(serve_command, refuses_a_url_that_is_none) {
  EXPECT_EQ(rowlock_alone({"serve", "--url", "oracle:x", "--listen", "127.0.0.1:0"}).exit_code, 64);
}

TEST(serve_page, names_the_paths_that_need_no_token) {
  const auto found_in = [](const std::string& text, const char* pattern) {
    const std::regex expression{pattern};
    std::set<std::string> found;
    for (std::sregex_iterator at{text.begin(), text.end(), expression}, end; at != end; ++at)
      found.insert((*at)[1]);
    return found;
  };
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream file{path};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  const std::filesystem::path source = ROWLOCK_SOURCE_DIR;
  std::set<std::string> open;
  for (const auto& file : std::filesystem::directory_iterator{source / "src/serve"})
    open.merge(found_in(text_of(file.path()),
                        R"x(\.add(?:_probe)?\(\s*(?:"[A-Z]+",\s*)?"([^"]+)",\s*(?:\{\}|\[))x"));
  EXPECT_THAT(open, testing::Contains("/healthz"));
  const auto page = text_of(source / "docs/serve.md");
  const auto begin = page.find("Only `/healthz`");
  ASSERT_NE(begin, page.npos);
  EXPECT_EQ(found_in(page.substr(begin, page.find("need none", begin) - begin), "`([^`]+)`"), open);
}

// On a server of the test's own.
class serve_without_database_test : public testing::TestWithParam<std::string> {
 protected:
  static void expect_ready(const served& server, bool expected) {
    eventually("the readiness changes",
               [&] { return server.get("/readyz").status == (expected ? 200 : 503); });
  }
};

TEST_P(serve_without_database_test, starts_and_goes_on_and_recovers) {
  const auto database = make_own_server(GetParam());
  migrator{database->url()}.up();
  database->crash();
  const auto server = started(
      start_rowlock({"serve", "--listen", "127.0.0.1:0", "--rate", "0"}, {{"ROWLOCK_URL", database->url()}}));
  const auto away = server.get("/readyz");
  EXPECT_EQ(away.status, 503);
  EXPECT_THAT(away.body, AllOf(HasSubstr("\"code\":\"unreachable\""), HasSubstr("\"message\""))) << away.body;
  http_client probe{server.port};
  probe.send("GET /readyz HTTP/1.1\r\nHost: 10.0.0.7\r\n\r\n");
  EXPECT_EQ(probe.read().body, "{\"ready\":false,\"error\":{\"code\":\"unreachable\"}}\n");
  database->start();
  expect_ready(server, true);
  database->crash();
  expect_ready(server, false);
  EXPECT_EQ(server.get("/healthz").status, 200);
  database->start();
  expect_ready(server, true);
  server.process->send(SIGTERM);
  EXPECT_EQ(server.process->wait().exit_code, 0);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(serve_without_database_test);
INSTANTIATE_TEST_SUITE_P(servers, serve_without_database_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace rowlock::test
