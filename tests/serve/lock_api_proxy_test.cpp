// Two servers behind an HAProxy: a client goes on when one of them is killed, and leaves the queue when it goes.
#include "serve/serve_test.hpp"

#include "child_process.hpp"
#include "support/loopback.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <optional>

namespace rowlock::test {

using namespace std::chrono_literals;
using nlohmann::json;

class lock_api_proxy_test : public serve_test {
 protected:
  void SetUp() override {
    if (std::system("PATH=$PATH:/usr/sbin command -v haproxy >/dev/null") != 0) {
      GTEST_SKIP() << "haproxy is not installed";
    }
    for (auto& one : servers) one = start_with_tokens({worker}, {"--sweep-every", "0"});
    const auto config = token_folder.path() / "haproxy.cfg";
    port = free_port();
    std::ofstream{config} << fmt::format(R"(
defaults
  mode http
  option abortonclose
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  retries 3
  option redispatch 1
  retry-on conn-failure 503
frontend locks
  bind 127.0.0.1:{}
  default_backend servers
backend servers
  balance roundrobin
  server one 127.0.0.1:{}
  server two 127.0.0.1:{}
)",
                                         port, servers[0].port, servers[1].port);
    haproxy.emplace(
        words{"/bin/sh", "-c", "PATH=$PATH:/usr/sbin exec haproxy -db -f '" + config.string() + "'"});
    eventually("the proxy answers", [&] {
      try {
        return http_get(port, "/healthz").status == 200;
      } catch (const std::runtime_error&) {
        return false;
      }
    });
  }

  http_answer ask(const std::string& method, const std::string& id, const std::string& verb = "",
                  const json& body = {{"ttl_ms", 60'000}}) const {
    http_client client{port};
    client.send(text_of(method, id, verb, body));
    return client.read();
  }
  std::string text_of(const std::string& method, const std::string& id, const std::string& verb,
                      const json& body) const {
    return served::request_text(method, "/v1/locks/job/holds/" + id + verb, body, bearer(worker));
  }
  std::vector<waiter_info> queue() { return admin{db}.queue("job"); }

  const std::string first = "0b4f3a5e-0000-4000-8000-000000000001";
  const std::string second = "0b4f3a5e-0000-4000-8000-000000000002";
  const serve::new_token worker = serve::make_token("worker", {serve::role::lock});
  const client db = client_beside_it();
  served servers[2];
  std::uint16_t port = 0;
  std::optional<child_process> haproxy;
};

TEST_P(lock_api_proxy_test, a_hold_outlives_the_server_that_granted_it) {
  const auto held = ask("PUT", first);
  ASSERT_EQ(held.status, 200) << held.body;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask("POST", first, "/renew").status, 200) << "at each server in turn";
  servers[0].process->send(SIGKILL);
  servers[0].process->wait();
  http_answer again;
  eventually("the other server answers", [&] { return (again = ask("PUT", first)).status < 500; });
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(json::parse(again.body)["hold_id"], json::parse(held.body)["hold_id"]);
  EXPECT_EQ(ask("PUT", second).status, 423);
  EXPECT_EQ(ask("DELETE", first).status, 200);
}

TEST_P(lock_api_proxy_test, who_waits_at_a_killed_server_waits_at_the_other_one) {
  ASSERT_EQ(ask("PUT", first).status, 200);
  const json wish{{"ttl_ms", 60'000}, {"wait_ms", 60'000}};
  http_client waiting{port};
  waiting.send(text_of("PUT", second, "", wish));
  eventually("it waits", [&] { return queue().size() == 1; });
  const auto waits_at = [&](const served& one) { return queue().at(0).pid == one.process->pid(); };
  auto& killed = waits_at(servers[0]) ? servers[0] : servers[1];
  killed.process->send(SIGKILL);
  killed.process->wait();
  EXPECT_EQ(waiting.read().status, 502) << "the proxy cannot know whether the request was executed";
  http_client again{port};
  again.send(text_of("PUT", second, "", wish));
  eventually("it waits at the other server, behind the place that it had",
             [&] { return queue().size() == 2; });
  store->expire(model::lease_id{queue().at(0).lease_id}, 1h);
  EXPECT_EQ(ask("DELETE", first).status, 200);
  const auto granted = again.read();
  EXPECT_EQ(granted.status, 200) << granted.body;
}

TEST_P(lock_api_proxy_test, who_goes_away_leaves_the_queue) {
  ASSERT_EQ(ask("PUT", first, "", {{"ttl_ms", 600'000}}).status, 200);
  http_client waiting{port};
  waiting.send(text_of("PUT", second, "", {{"ttl_ms", 60'000}, {"wait_ms", 600'000}}));
  eventually("it waits", [&] { return queue().size() == 1; });
  waiting.close();
  eventually("its place is given up", [&] { return queue().empty(); });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(lock_api_proxy_test);
INSTANTIATE_TEST_SUITE_P(stores, lock_api_proxy_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace rowlock::test
