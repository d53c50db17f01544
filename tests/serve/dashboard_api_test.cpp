// What the dashboard reads and does, on every store: bounds, roles, hostile names, actions, a database that goes away.
#include "own_server.hpp"
#include "serve/serve_test.hpp"

#include <rowlock/rowlock.hpp>

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;

namespace {

http_answer post(const served& server, const std::string& path, const nlohmann::json& body,
                 const std::string& headers, const std::string& type = "application/json") {
  return server.ask("POST", path, body, headers, type);
}

nlohmann::json json_at(const served& server, const std::string& path, const std::string& headers = {}) {
  const auto answer = server.get(path, headers);
  EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
  return nlohmann::json::parse(answer.body);
}

}  // namespace

class dashboard_api_test : public serve_test {
 protected:
  // With tokens for somebody who reads and somebody who also operates.
  served start_with_tokens() { return serve_test::start_with_tokens({reading, operating}); }

  const serve::new_token reading = serve::make_token("viewer", {serve::role::read});
  const serve::new_token operating = serve::make_token("alice", {serve::role::read, serve::role::operate});
};

TEST_P(dashboard_api_test, pages_are_public_strict_and_not_sent_twice) {
  const auto server = start_with_tokens();
  const auto page = server.get("/");
  EXPECT_EQ(page.status, 200);
  const auto policy = page.headers.at("content-security-policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"));
  EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
  EXPECT_EQ(server.get("/", "If-None-Match: " + page.headers.at("etag") + "\r\n").status, 304);
  EXPECT_THAT(server.get("/dashboard/dashboard.js").headers.at("content-type"), HasSubstr("text/javascript"));
  EXPECT_EQ(server.get("/api/locks").status, 401);
  EXPECT_EQ(server.get("/api/events").status, 401);
}

TEST_P(dashboard_api_test, can_be_left_out) {
  const auto server = start_serve({"--no-dashboard"});
  EXPECT_EQ(server.get("/").status, 404);
  EXPECT_EQ(server.get("/api/locks").status, 404);
}

TEST_P(dashboard_api_test, lists_locks_page_by_page) {
  for (const std::string name : {"a", "b", "c"}) rowlock({"run", name, "--", "true"});
  const auto server = start_serve({"--sweep-every", "0"});
  const auto first = json_at(server, "/api/locks?limit=2");
  ASSERT_EQ(first["locks"].size(), 2U);
  EXPECT_EQ(first["locks"][1]["name"], "b");
  EXPECT_FALSE(first["is_last"]);
  const auto rest = json_at(server, "/api/locks?after=b&limit=2");
  ASSERT_EQ(rest["locks"].size(), 1U);
  EXPECT_EQ(rest["locks"][0]["name"], "c");
  EXPECT_TRUE(rest["is_last"]);
  for (const auto* query : {"limit=0", "limit=1001", "limit=x", "limit=", "after=%zz"}) {
    EXPECT_EQ(server.get(std::string{"/api/locks?"} + query).status, 400) << query;
  }
  EXPECT_EQ(server.get("/api/locks/a/history?limit=1001").status, 400);
  EXPECT_EQ(server.get("/api/locks/missing").status, 404);
}

TEST_P(dashboard_api_test, shows_hostile_names) {
  const auto server = start_serve({"--sweep-every", "0"});
  for (const auto& name : {std::string{"<script>alert(1)</script>"}, std::string{"a/b?c#d%2F"},
                           std::string{"\xE2\x80\xAEtxt\xE2\x81\xA6"}, std::string(255, 'n'),
                           std::string{"'; DROP TABLE rowlock_lock; --"}}) {
    ASSERT_EQ(rowlock({"run", name, "--", "true"}).exit_code, 0);
    EXPECT_EQ(json_at(server, "/api/locks/" + encoded(name))["name"], name);
    EXPECT_EQ(json_at(server, "/api/locks/" + encoded(name) + "/history")["lines"].size(), 0U);
  }
}

TEST_P(dashboard_api_test, shows_holders_waiters_and_the_graph) {
  auto holder = hold("billing/nightly");
  auto waiter = wait_for("billing/nightly");
  const auto server = start_serve({"--sweep-every", "0"});
  const auto lock = json_at(server, "/api/locks/billing%2Fnightly");
  EXPECT_EQ(lock["holders"][0]["pid"], holder->pid());
  EXPECT_EQ(lock["queue"][0]["pid"], waiter->pid());
  const auto graph = json_at(server, "/api/graph");
  ASSERT_EQ(graph["locks"].size(), 1U);
  EXPECT_EQ(graph["locks"][0]["queue"].size(), 1U);
  EXPECT_EQ(graph["cycles"].size(), 0U);
  const auto health = json_at(server, "/api/health");
  EXPECT_EQ(health["schema_version"], health["schema_version_required"]);
  EXPECT_FALSE(health["upkeep"]["is_on"]);
}

TEST_P(dashboard_api_test, reads_once_a_second_for_everybody) {
  rowlock({"run", "job", "--", "true"});
  const auto server = start_serve({"--sweep-every", "0", "--metrics-every", "1h"});
  const auto readings = [&] {
    const auto lines = metrics_of(server, "rowlock_serve_call_seconds_count{call=\"list\"}");
    return std::stoi(lines.substr(lines.rfind(' ')));
  };
  metrics_of(server, "rowlock_locks ");  // which reads the locks, too
  json_at(server, "/api/locks");
  const auto before = readings();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) json_at(server, "/api/locks");
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(readings() - before, 1 + took / std::chrono::seconds{1});
}

TEST_P(dashboard_api_test, acts_for_operators_alone) {
  const auto server = start_with_tokens();
  auto holder = hold("job");
  const nlohmann::json why{{"reason", "deploy"}, {"within_ms", 0}};
  for (const auto* verb : {"release-request", "force", "resize"}) {
    const auto path = std::string{"/api/locks/job/"} + verb;
    EXPECT_EQ(post(server, path, why, "").status, 401) << verb;
    EXPECT_EQ(post(server, path, why, bearer(reading)).status, 403) << verb;
    EXPECT_EQ(server.get(path, bearer(operating)).status, 405) << verb;
    EXPECT_EQ(post(server, path, {{"reason", ""}}, bearer(operating)).status, 400) << verb;
    EXPECT_EQ(post(server, path, why, bearer(operating), "text/plain").status, 400) << verb;
  }
  EXPECT_EQ(
      post(server, "/api/locks/job/resize", {{"reason", "x"}, {"capacity", 2}}, bearer(operating)).status,
      409);
  EXPECT_EQ(json_at(server, "/api/locks/job", bearer(reading))["holders"].size(), 1U);

  const auto asked = post(server, "/api/locks/job/release-request",
                          {{"reason", "deploy"}, {"within_ms", 100}}, bearer(operating));
  EXPECT_THAT(asked.body, HasSubstr("\"kept\""));
  const auto forced = post(server, "/api/locks/job/force", {{"reason", "on fire"}}, bearer(operating));
  EXPECT_THAT(forced.body, HasSubstr("\"forced\""));
  eventually("nobody holds it",
             [&] { return json_at(server, "/api/locks/job", bearer(reading))["in_use"] == 0; });
  server.process->send(SIGTERM);
  const auto ended = server.process->wait();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("alice: force of 'job', because on fire: forced"));
}

TEST_P(dashboard_api_test, changes_the_capacity_of_a_semaphore) {
  const auto server = start_with_tokens();
  rowlock({"run", "pool", "--capacity", "2", "--", "true"});
  const auto path = std::string{"/api/locks/pool/resize"};
  EXPECT_EQ(post(server, path, {{"reason", "more"}, {"capacity", 0}}, bearer(operating)).status, 400);
  EXPECT_EQ(post(server, path, {{"reason", "more"}, {"capacity", "3"}}, bearer(operating)).status, 400);
  EXPECT_EQ(post(server, path, {{"reason", "more"}, {"capacity", 3}}, bearer(operating)).status, 200);
  eventually("the capacity is 3",
             [&] { return json_at(server, "/api/locks/pool", bearer(reading))["capacity"] == 3; });
}

TEST_P(dashboard_api_test, streams_what_changes_and_ends_with_the_server) {
  const auto server = start_serve({"--sweep-every", "0"});
  http_client viewer{server.port};
  viewer.ask("/api/events");
  EXPECT_THAT(viewer.read_head().headers.at("content-type"), HasSubstr("text/event-stream"));
  EXPECT_THAT(viewer.read_chunk(), HasSubstr("\"reachable\":true"));
  auto holder = hold("job");
  while (viewer.read_chunk().find("\"held\":1") == std::string::npos) {
  }
  server.process->send(SIGTERM);
  while (!viewer.read_chunk().empty()) {
  }
  EXPECT_EQ(server.process->wait().exit_code, 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(dashboard_api_test);

// On a server of the test's own.
class dashboard_away_test : public testing::TestWithParam<std::string> {};

TEST_P(dashboard_away_test, says_that_the_database_is_away_and_back) {
  const auto database = make_own_server(GetParam());
  migrator{database->url()}.up();
  const auto server = started(
      start_rowlock({"serve", "--listen", "127.0.0.1:0", "--rate", "0"}, {{"ROWLOCK_URL", database->url()}}));
  http_client viewer{server.port};
  viewer.ask("/api/events");
  viewer.read_head();
  const auto expect = [&](const std::string& text) {
    while (viewer.read_chunk().find(text) == std::string::npos) {
    }
  };
  expect("\"reachable\":true");
  database->crash();
  expect("\"reachable\":false");
  EXPECT_EQ(server.get("/api/locks").status, 503);
  database->start();
  expect("\"reachable\":true");
  eventually("the locks are there", [&] { return server.get("/api/locks").status == 200; });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(dashboard_away_test);
INSTANTIATE_TEST_SUITE_P(servers, dashboard_away_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace rowlock::test
