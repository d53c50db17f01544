#include "serve/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace rowlock::test {
namespace {

using serve::role;

// Takes one whole response.
class last_response : public serve::reply_target {
 public:
  void put(serve::response whole) override { got = std::move(whole); }
  void begin_stream(serve::response) override {}
  bool put_part(std::string) override { return true; }
  void end_stream() override {}

  std::optional<serve::response> got;
};

class dispatcher_test : public testing::Test {
 protected:
  dispatcher_test() {
    const auto answer = [](const serve::request& from, const serve::reply& to) {
      to.send({.body = from.caller.name});
    };
    routes.add("GET", "/health", {}, answer);
    routes.add("GET", "/locks", role::read, answer);
    routes.add("POST", "/locks", role::lock, answer);
    routes.add("POST", "/force", role::operate, answer);
  }

  serve::response ask(const std::string& method, const std::string& path,
                      const std::string& authorization = {}) {
    serve::request from{.method = method};
    from.headers["host"] = "127.0.0.1:8600";
    if (!authorization.empty()) from.headers["authorization"] = authorization;
    from.client_address = from.local_address = "127.0.0.1";
    const auto target = std::make_shared<last_response>();
    serve::dispatcher{routes, rules}.handle(from, path, serve::reply{target, {}});
    return target->got.value();
  }

  serve::router routes;
  serve::access_rules rules;
};

TEST_F(dispatcher_test, without_tokens_everybody_may_read_and_no_more) {
  EXPECT_EQ(ask("GET", "/health").status, 200U);
  EXPECT_EQ(ask("GET", "/locks").status, 200U);
  EXPECT_EQ(ask("POST", "/locks").status, 403U);
  EXPECT_EQ(ask("POST", "/force", "Bearer anything").status, 403U);
}

TEST_F(dispatcher_test, a_token_allows_what_its_roles_say) {
  const auto reader = serve::make_token("reader", {role::read});
  const auto worker = serve::make_token("worker", {role::lock});
  const auto operating = serve::make_token("operator", {role::read, role::lock, role::operate});
  rules.known_tokens =
      serve::tokens::parse(reader.line + '\n' + worker.line + '\n' + operating.line + '\n', "tokens");
  const auto statuses = [&](const std::string& token) {
    std::vector<unsigned> all;
    for (const auto& [method, path] :
         {std::pair{"GET", "/health"}, {"GET", "/locks"}, {"POST", "/locks"}, {"POST", "/force"}})
      all.push_back(ask(method, path, token).status);
    return all;
  };
  using testing::ElementsAre;
  EXPECT_THAT(statuses(""), ElementsAre(200, 401, 401, 401));
  EXPECT_THAT(statuses("Bearer wrong"), ElementsAre(200, 401, 401, 401));
  EXPECT_THAT(statuses("Basic " + reader.token), ElementsAre(200, 401, 401, 401));
  EXPECT_THAT(statuses("Bearer " + reader.token), ElementsAre(200, 200, 403, 403));
  EXPECT_THAT(statuses("bearer  " + worker.token), ElementsAre(200, 403, 200, 403));
  EXPECT_THAT(statuses("Bearer " + operating.token), ElementsAre(200, 200, 200, 200));
  EXPECT_EQ(ask("POST", "/force", "Bearer " + operating.token).body, "operator");
  EXPECT_THAT(ask("GET", "/locks").headers.at("WWW-Authenticate"), testing::HasSubstr("Bearer"));
  EXPECT_EQ(ask("GET", "/nothing").status, 401U) << "a stranger does not learn what there is";
}

TEST_F(dispatcher_test, no_refusal_repeats_a_token) {
  rules.known_tokens = serve::tokens::parse(serve::make_token("reader", {role::read}).line, "tokens");
  EXPECT_THAT(ask("GET", "/locks", "Bearer rowlock_secret").body, testing::Not(testing::HasSubstr("secret")));
}

TEST(router_test, refuses_an_action_by_get) {
  serve::router routes;
  EXPECT_THROW(routes.add("GET", "/force", role::operate, {}), std::logic_error);
  EXPECT_THROW(routes.add("GET", "/force", role::lock, {}), std::logic_error);
}

TEST(router_test, finds_by_method_and_path) {
  serve::router routes;
  routes.add("GET", "/locks/{name}/waiters", role::read, {});
  routes.add("POST", "/locks/{name}/waiters", role::lock, {});
  const auto found = routes.find("GET", "/locks/a%2Fb%00/waiters");
  ASSERT_NE(found.found, nullptr);
  EXPECT_EQ(found.words.at("name"), (std::string{"a/b\0", 4}));
  EXPECT_EQ(routes.find("HEAD", "/locks/a/waiters").found, found.found);
  EXPECT_EQ(routes.find("PUT", "/locks/a/waiters").allowed, "GET, HEAD, POST");
  for (const auto* path : {"", "/", "/locks", "/locks//waiters", "/locks/a/waiters/", "/locks/a%2/waiters",
                           "locks/a/waiters", "/locks/a/Waiters"}) {
    EXPECT_EQ(routes.find("GET", path).found, nullptr) << path;
  }
}

TEST(listen_address_test, is_an_address_and_a_port) {
  const auto four = serve::parse_listen_address("127.0.0.1:8600");
  EXPECT_TRUE(four.is_loopback);
  EXPECT_EQ(four.port, 8600);
  EXPECT_EQ(four.text(), "127.0.0.1:8600");
  EXPECT_TRUE(serve::parse_listen_address("localhost:0").is_loopback);
  EXPECT_TRUE(serve::parse_listen_address("127.1.2.3:1").is_loopback);
  const auto six = serve::parse_listen_address("[::1]:8600");
  EXPECT_TRUE(six.is_loopback);
  EXPECT_EQ(six.text(), "[::1]:8600");
  EXPECT_FALSE(serve::parse_listen_address("[::]:8600").is_loopback);
  EXPECT_FALSE(serve::parse_listen_address("0.0.0.0:8600").is_loopback);
  for (const auto* text : {"", ":8600", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x",
                           "::1:8600", "example.com:80", "127.0.0.1:80 "}) {
    EXPECT_THROW(serve::parse_listen_address(text), error) << text;
  }
}

TEST(rate_limit_test, lets_an_address_send_so_many_in_a_second) {
  using namespace std::chrono_literals;
  serve::rate_limit limit{2};
  const auto now = serve::rate_limit::clock::now();
  EXPECT_FALSE(limit.is_exceeded("10.0.0.1", now));
  EXPECT_FALSE(limit.is_exceeded("10.0.0.1", now));
  EXPECT_TRUE(limit.is_exceeded("10.0.0.1", now));
  EXPECT_FALSE(limit.is_exceeded("10.0.0.2", now)) << "another client";
  EXPECT_TRUE(limit.is_exceeded("10.0.0.1", now + 400ms));
  EXPECT_FALSE(limit.is_exceeded("10.0.0.1", now + 600ms));
  EXPECT_FALSE(limit.is_exceeded("fe80::1", now));
  EXPECT_FALSE(limit.is_exceeded("fe80::2", now));
  EXPECT_TRUE(limit.is_exceeded("fe80::3", now)) << "addresses of one network are one client";
  serve::rate_limit none{0};
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(none.is_exceeded("10.0.0.1", now));
}

}  // namespace
}  // namespace rowlock::test
