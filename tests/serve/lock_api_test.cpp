// Locks over HTTP, on every store: the calls, what a client's and a server's end leave behind, and who may do what.
#include "own_server.hpp"
#include "serve/serve_test.hpp"

#include <rowlock/rowlock.hpp>

#include <csignal>
#include <future>

namespace rowlock::test {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

namespace {

const std::string first_id = "0b4f3a5e-0000-4000-8000-000000000001";
const std::string second_id = "0b4f3a5e-0000-4000-8000-000000000002";
const std::string third_id = "0b4f3a5e-0000-4000-8000-000000000003";

std::string path_of(const std::string& name, const std::string& id) {
  return "/v1/locks/" + encoded(name) + "/holds/" + id;
}

std::string code_of(const http_answer& answer) {
  return json::parse(answer.body)["error"]["code"];
}

// docs/http-api.json, in which references are followed.
class description {
 public:
  // Whether it has this answer to the method at the path.
  void expect(const std::string& path, const std::string& method, const http_answer& answer) const {
    const auto status = std::to_string(answer.status);
    const auto& responses = resolved(all_.at("paths").at(path).at(method).at("responses"));
    ASSERT_TRUE(responses.contains(status))
        << method << ' ' << path << " answers " << status << ": " << answer.body;
    const auto& content = resolved(responses.at(status)).at("content");
    ASSERT_EQ(answer.headers.at("content-type"), "application/json");
    expect_schema(content.at("application/json").at("schema"), json::parse(answer.body), method + ' ' + path);
  }
  const json& at(const char* member) const { return all_.at(member); }

 private:
  const json& resolved(const json& part) const {
    if (!part.contains("$ref")) return part;
    return resolved(all_.at(json::json_pointer{part.at("$ref").get<std::string>().substr(1)}));
  }
  void expect_schema(const json& reference, const json& value, const std::string& where) const {
    const auto& schema = resolved(reference);
    const std::string type = schema.at("type");
    EXPECT_TRUE(type == "object"    ? value.is_object()
                : type == "integer" ? value.is_number_integer()
                                    : value.is_string())
        << where << " is no " << type << ": " << value;
    for (const auto& name : schema.value("required", json::array()))
      EXPECT_TRUE(value.contains(name)) << where << ": " << name;
    if (!schema.contains("properties")) return;
    for (const auto& [name, member] : value.items()) {
      ASSERT_TRUE(schema.at("properties").contains(name)) << where << " has " << name;
      expect_schema(schema.at("properties").at(name), member, where + ' ' + name);
    }
  }

  const json all_ = json::parse(std::ifstream{ROWLOCK_SOURCE_DIR "/docs/http-api.json"});
};

}  // namespace

class lock_api_test : public serve_test {
 protected:
  served start_server(const words& options = {}) {
    return start_with_tokens({worker, other, viewer}, options);
  }

  http_answer put(const served& on, const std::string& name, const std::string& id,
                  const json& body = {{"ttl_ms", 60'000}}) const {
    return described("put", "", on.ask("PUT", path_of(name, id), body, bearer(worker)));
  }
  http_answer renew(const served& on, const std::string& name, const std::string& id) const {
    return described("post", "/renew",
                     on.ask("POST", path_of(name, id) + "/renew", json::object(), bearer(worker)));
  }
  http_answer release(const served& on, const std::string& name, const std::string& id) const {
    return described("delete", "", on.ask("DELETE", path_of(name, id), json::object(), bearer(worker)));
  }
  // The answer, after a look at whether docs/http-api.json has it.
  http_answer described(const std::string& method, const std::string& verb, http_answer answer) const {
    api.expect("/v1/locks/{name}/holds/{id}" + verb, method, answer);
    return answer;
  }
  static json granted(const http_answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.status == 200 ? json::parse(answer.body) : json::object();
  }

  // A request that waits in the queue, on a connection of its own.
  std::unique_ptr<http_client> waiting(const served& on, const std::string& name, const std::string& id,
                                       std::chrono::milliseconds wait = 60s) {
    const auto before = queue(name).size();
    auto client = send(on, name, id, wait);
    eventually("it waits", [&] { return queue(name).size() == before + 1; });
    return client;
  }
  std::unique_ptr<http_client> send(const served& on, const std::string& name, const std::string& id,
                                    std::chrono::milliseconds wait = 60s) const {
    auto client = std::make_unique<http_client>(on.port);
    client->send(served::request_text("PUT", path_of(name, id),
                                      {{"ttl_ms", 60'000}, {"wait_ms", wait.count()}}, bearer(worker)));
    return client;
  }
  // Moves the expiry of the hold to this time from now.
  void let_expire_in(const std::string& name, std::chrono::milliseconds from_now) {
    store->expire(model::lease_id{holders(name).at(0).lease_id}, -from_now);
  }
  std::vector<waiter_info> queue(const std::string& name) { return admin{db}.queue(name); }
  std::vector<holder_info> holders(const std::string& name) {
    const auto lock = admin{db}.show(name);
    return lock ? lock->holders : std::vector<holder_info>{};
  }

  const description api;
  const serve::new_token worker = serve::make_token("worker", {serve::role::lock});
  const serve::new_token other = serve::make_token("other", {serve::role::lock});
  const serve::new_token viewer = serve::make_token("viewer", {serve::role::read, serve::role::operate});
  const client db = client_beside_it();
};

TEST_P(lock_api_test, acquires_renews_and_releases) {
  const auto server = start_server();
  const auto held = granted(put(server, "billing/nightly", first_id));
  EXPECT_EQ(held["name"], "billing/nightly");
  EXPECT_EQ(held["id"], first_id);
  EXPECT_EQ(held["weight"], 1);
  EXPECT_LE(held["expires_in_ms"], 60'000);
  EXPECT_FALSE(held.contains("release_request"));
  ASSERT_EQ(holders("billing/nightly").size(), 1U);
  EXPECT_EQ(holders("billing/nightly")[0].hold_id.to_string(), held["hold_id"].get<std::string>());
  EXPECT_EQ(holders("billing/nightly")[0].token.value(), held["token"]);

  EXPECT_EQ(put(server, "billing/nightly", second_id).status, 423);
  EXPECT_EQ(granted(renew(server, "billing/nightly", first_id))["token"], held["token"]);
  EXPECT_EQ(granted(release(server, "billing/nightly", first_id))["result"], "released");
  for (const auto& answer :
       {release(server, "billing/nightly", first_id), renew(server, "billing/nightly", first_id),
        renew(server, "no such", first_id)}) {
    EXPECT_EQ(answer.status, 410);
    EXPECT_EQ(code_of(answer), "hold_lost");
  }
  EXPECT_GT(granted(put(server, "billing/nightly", second_id))["token"], held["token"]);
}

TEST_P(lock_api_test, gives_the_same_hold_again_for_the_same_id) {
  const auto server = start_server();
  const auto held = granted(put(server, "job", first_id));
  auto again = granted(put(server, "job", first_id));
  EXPECT_EQ(again["hold_id"], held["hold_id"]);
  EXPECT_EQ(again["token"], held["token"]);
  // The answer may also have been lost because the server died.
  server.process->send(SIGKILL);
  server.process->wait();
  const auto successor = start_server();
  again = granted(put(successor, "job", first_id));
  EXPECT_EQ(again["hold_id"], held["hold_id"]);
  EXPECT_EQ(again["token"], held["token"]);
  EXPECT_EQ(granted(release(successor, "job", first_id))["result"], "released");
  EXPECT_TRUE(holders("job").empty());
}

TEST_P(lock_api_test, a_hold_outlives_its_server) {
  auto server = start_server();
  const auto held = granted(put(server, "job", first_id));
  server.process->send(SIGTERM);
  EXPECT_EQ(server.process->wait().exit_code, 0);
  server = start_server();
  EXPECT_EQ(granted(renew(server, "job", first_id))["hold_id"], held["hold_id"]);
  EXPECT_EQ(put(server, "job", second_id).status, 423);
}

TEST_P(lock_api_test, a_hold_that_is_not_renewed_ends) {
  const auto server = start_server();
  const auto held = granted(put(server, "job", first_id));
  let_expire_in("job", -1s);
  EXPECT_EQ(renew(server, "job", first_id).status, 410);
  EXPECT_GT(granted(put(server, "job", second_id))["token"], held["token"]);
  EXPECT_EQ(release(server, "job", first_id).status, 410);
  EXPECT_EQ(put(server, "job", first_id).status, 423) << "it is over, so this would acquire it anew";
  EXPECT_EQ(holders("job").size(), 1U);
}

TEST_P(lock_api_test, whoever_releases_late_frees_the_lock) {
  const auto server = start_server({"--sweep-every", "0"});
  granted(put(server, "job", first_id));
  let_expire_in("job", -1s);
  EXPECT_EQ(granted(release(server, "job", first_id))["result"], "released") << "nobody else had it";
  EXPECT_TRUE(holders("job").empty());
}

TEST_P(lock_api_test, a_renewal_and_a_repeated_request_extend_the_hold) {
  const auto server = start_server();
  const json body{{"ttl_ms", 3'600'000}};
  granted(put(server, "job", first_id, body));
  for (const bool repeats : {false, true}) {
    let_expire_in("job", 20min);
    const auto answer =
        granted(repeats ? put(server, "job", first_id, body) : renew(server, "job", first_id));
    EXPECT_GT(answer["expires_in_ms"], 30 * 60'000);
    EXPECT_GT(holders("job").at(0).expires_in, 30min);
  }
}

TEST_P(lock_api_test, a_hold_is_not_given_for_another_body) {
  const auto server = start_server();
  granted(put(server, "catalog", first_id, {{"ttl_ms", 60'000}, {"mode", "read"}}));
  for (const json& body : {json{{"ttl_ms", 60'000}, {"mode", "write"}},
                           json{{"ttl_ms", 90'000}, {"mode", "read"}}, json{{"ttl_ms", 60'000}}}) {
    const auto answer = put(server, "catalog", first_id, body);
    EXPECT_EQ(answer.status, 409) << body;
    EXPECT_EQ(code_of(answer), "mismatch") << body;
  }
  granted(put(server, "catalog", first_id, {{"ttl_ms", 60'000}, {"mode", "read"}, {"wait_ms", 5}}));
}

TEST_P(lock_api_test, two_servers_release_a_hold_once) {
  const auto first = start_server();
  const auto second = start_server();
  for (int i = 0; i < 10; ++i) {
    granted(put(first, "job", first_id));
    auto there = std::async(std::launch::async, [&] { return release(second, "job", first_id).status; });
    const auto here = release(first, "job", first_id).status;
    EXPECT_THAT((std::vector{here, there.get()}), testing::UnorderedElementsAre(200, 410));
  }
  granted(put(first, "job", first_id));
  EXPECT_EQ(granted(renew(second, "job", first_id))["id"], first_id) << "neither server's lease has ended";
}

TEST_P(lock_api_test, waits_in_the_queue) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto second = waiting(server, "job", second_id);
  const auto third = waiting(server, "job", third_id);
  granted(release(server, "job", first_id));
  EXPECT_EQ(granted(second->read())["id"], second_id);
  EXPECT_EQ(queue("job").size(), 1U);
  granted(release(server, "job", second_id));
  EXPECT_EQ(granted(third->read())["id"], third_id);
}

TEST_P(lock_api_test, says_busy_when_the_wait_is_over) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto answer = put(server, "job", second_id, {{"ttl_ms", 60'000}, {"wait_ms", 200}});
  EXPECT_EQ(answer.status, 423);
  EXPECT_EQ(code_of(answer), "busy");
  eventually("it has left the queue", [&] { return queue("job").empty(); });
}

TEST_P(lock_api_test, who_releases_waits_no_longer) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto second = waiting(server, "job", second_id);
  EXPECT_EQ(release(server, "job", second_id).status, 410);
  EXPECT_EQ(code_of(second->read()), "cancelled");
  eventually("it has left the queue", [&] { return queue("job").empty(); });
  EXPECT_EQ(renew(server, "job", first_id).status, 200);
}

TEST_P(lock_api_test, waits_anew_after_it_has_given_up) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  waiting(server, "job", second_id)->close();
  const auto again = send(server, "job", second_id);
  granted(release(server, "job", first_id));
  EXPECT_EQ(granted(again->read())["id"], second_id);
}

TEST_P(lock_api_test, who_closes_the_connection_waits_no_longer) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto second = waiting(server, "job", second_id);
  second->close();
  eventually("it has left the queue", [&] { return queue("job").empty(); });
  granted(release(server, "job", first_id));
  EXPECT_TRUE(holders("job").empty());
}

// A client that has lost its connection, and of which the server does not know that yet.
TEST_P(lock_api_test, who_sends_the_request_again_keeps_the_place_in_the_queue) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto lost = waiting(server, "job", second_id);
  const auto third = waiting(server, "job", third_id);
  const auto again = send(server, "job", second_id);
  const auto superseded = lost->read();
  EXPECT_EQ(superseded.status, 409);
  EXPECT_EQ(code_of(superseded), "superseded");
  lost->close();
  granted(release(server, "job", first_id));
  EXPECT_EQ(granted(again->read())["id"], second_id);
  EXPECT_EQ(holders("job").size(), 1U);
}

TEST_P(lock_api_test, an_id_that_waits_cannot_ask_for_something_else) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto second = waiting(server, "job", second_id);
  const auto answer = put(server, "job", second_id, {{"ttl_ms", 1000}});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(code_of(answer), "mismatch");
  granted(release(server, "job", first_id));
  granted(second->read());
}

TEST_P(lock_api_test, ends_waits_when_it_ends_and_keeps_holds) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto second = waiting(server, "job", second_id);
  server.process->send(SIGTERM);
  const auto answer = second->read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(code_of(answer), "cancelled");
  second->close();
  EXPECT_EQ(server.process->wait().exit_code, 0);
  EXPECT_TRUE(queue("job").empty());
  EXPECT_EQ(holders("job").size(), 1U);
}

TEST_P(lock_api_test, ends_the_wait_of_a_request_that_it_was_reading) {
  const auto server = start_server({"--drain", "30s"});
  granted(put(server, "job", first_id));
  http_client slow{server.port};
  const auto text = served::request_text("PUT", path_of("job", second_id),
                                         {{"ttl_ms", 60'000}, {"wait_ms", 3'600'000}}, bearer(worker));
  slow.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + text.substr(0, 20));
  EXPECT_EQ(slow.read().status, 200);
  server.process->send(SIGTERM);
  while (server.process->read_error_line().find("ending") == std::string::npos) {
  }
  slow.send(text.substr(20));
  EXPECT_EQ(code_of(slow.read()), "cancelled");
  slow.close();
  EXPECT_EQ(server.process->wait().exit_code, 0);
}

TEST_P(lock_api_test, readers_share_and_permits_are_counted) {
  const auto server = start_server();
  const json read{{"ttl_ms", 60'000}, {"mode", "read"}};
  const json write{{"ttl_ms", 60'000}, {"mode", "write"}};
  granted(put(server, "catalog", first_id, read));
  granted(put(server, "catalog", second_id, read));
  EXPECT_EQ(put(server, "catalog", third_id, write).status, 423);
  granted(release(server, "catalog", first_id));
  granted(release(server, "catalog", second_id));
  EXPECT_EQ(granted(put(server, "catalog", third_id, write))["weight"], 1'000'000);

  const auto permits = [](int count) {
    return json{{"ttl_ms", 60'000}, {"mode", "permits"}, {"capacity", 3}, {"permits", count}};
  };
  EXPECT_EQ(granted(put(server, "pool", first_id, permits(2)))["weight"], 2);
  EXPECT_EQ(granted(put(server, "pool", first_id, permits(2)))["weight"], 2) << "the same again";
  EXPECT_EQ(put(server, "pool", second_id, permits(2)).status, 423);
  granted(put(server, "pool", second_id, permits(1)));
  EXPECT_EQ(holders("pool").size(), 2U);
  EXPECT_EQ(put(server, "pool", third_id).status, 409) << "it is a semaphore, and no mutex";
}

TEST_P(lock_api_test, the_guard_is_the_one_of_the_command) {
  const auto server = start_server();
  const auto held = granted(put(server, "it's a job", first_id));
  auto guard = json_of({"guard", "it's a job", "--hold", held["hold_id"]});
  EXPECT_EQ(held["guard"]["sql"], guard[0]["sql"]);
  const auto reader = granted(put(server, "catalog", first_id, {{"ttl_ms", 60'000}, {"mode", "read"}}));
  guard = json_of({"guard", "catalog", "--shared", "--hold", reader["hold_id"]});
  EXPECT_EQ(reader["guard"]["sql"], guard[0]["sql"]);
  EXPECT_EQ(granted(renew(server, "catalog", first_id))["guard"], reader["guard"]);
}

TEST_P(lock_api_test, a_release_by_force_ends_a_hold_and_a_request_is_shown) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  EXPECT_EQ(admin{db}.request_release("job", {.reason = "deploy", .within = 0s}),
            release_request_result::kept);
  EXPECT_EQ(granted(renew(server, "job", first_id))["release_request"]["reason"], "deploy");
  EXPECT_TRUE(admin{db}.release("job"));
  EXPECT_EQ(renew(server, "job", first_id).status, 410);
}

TEST_P(lock_api_test, people_see_whose_hold_it_is) {
  const auto server = start_server();
  granted(put(server, "job", first_id, {{"ttl_ms", 60'000}, {"data", "deploy 4711"}}));
  const auto data = holders("job").at(0).data;
  EXPECT_THAT(data, HasSubstr("\"http_client\":\"worker\""));
  EXPECT_THAT(data, HasSubstr("\"data\":\"deploy 4711\""));
  EXPECT_THAT(data, testing::Not(HasSubstr(first_id)))
      << "with it and the token another could release the hold";
}

TEST_P(lock_api_test, a_client_acts_on_its_own_holds_alone) {
  const auto server = start_server();
  granted(put(server, "job", first_id));
  const auto path = path_of("job", first_id);
  EXPECT_EQ(server.ask("DELETE", path, json::object(), bearer(other)).status, 410);
  EXPECT_EQ(server.ask("POST", path + "/renew", json::object(), bearer(other)).status, 410);
  EXPECT_EQ(server.ask("PUT", path, {{"ttl_ms", 1000}}, bearer(other)).status, 423);
  EXPECT_EQ(holders("job").size(), 1U);

  // The data of a hold of HTTP, copied: they must not lead to the hold of a program.
  auto program = mutex{db, "program"}.acquire();
  program.set_data(holders("job").at(0).data);
  EXPECT_EQ(release(server, "program", first_id).status, 410);
  EXPECT_EQ(put(server, "program", first_id).status, 423);
  EXPECT_TRUE(program);
  EXPECT_EQ(program.release(), release_result::released);
  EXPECT_EQ(renew(server, "job", first_id).status, 200);
}

TEST_P(lock_api_test, needs_a_token_with_the_role) {
  const auto server = start_server();
  const auto path = path_of("job", first_id);
  for (const auto* method : {"PUT", "DELETE"}) {
    EXPECT_EQ(server.ask(method, path, {{"ttl_ms", 1000}}).status, 401);
    EXPECT_EQ(server.ask(method, path, {{"ttl_ms", 1000}}, bearer(viewer)).status, 403);
  }
  EXPECT_EQ(server.get(path, bearer(worker)).status, 405);
  EXPECT_FALSE(admin{db}.show("job"));
  const auto open = start_serve();
  EXPECT_EQ(open.ask("PUT", path, {{"ttl_ms", 1000}}).status, 403);
}

TEST_P(lock_api_test, locks_although_it_does_no_upkeep) {
  const auto server = start_server({"--sweep-every", "0", "--metrics-every", "0", "--no-dashboard"});
  granted(put(server, "job", first_id));
}

TEST_P(lock_api_test, refuses_what_it_does_not_understand) {
  const auto server = start_server();
  const json none = json::object();
  const std::vector<json> bodies{none,
                                 {{"ttl_ms", 99}},
                                 {{"ttl_ms", 86'400'001}},
                                 {{"ttl_ms", "60s"}},
                                 {{"ttl_ms", 1.5}},
                                 {{"ttl_ms", 18'446'744'073'709'551'615U}},
                                 {{"ttl_ms", 1000}, {"wait_ms", -1}},
                                 {{"ttl_ms", 1000}, {"waitms", 1}},
                                 {{"ttl_ms", 1000}, {"mode", "shared"}},
                                 {{"ttl_ms", 1000}, {"mode", 1}},
                                 {{"ttl_ms", 1000}, {"capacity", 1}},
                                 {{"ttl_ms", 1000}, {"mode", "permits"}},
                                 {{"ttl_ms", 1000}, {"mode", "permits"}, {"capacity", 0}},
                                 {{"ttl_ms", 1000}, {"mode", "permits"}, {"capacity", 2}, {"permits", 3}},
                                 {{"ttl_ms", 1000}, {"mode", "permits"}, {"capacity", 2}, {"delay_ms", 5}},
                                 {{"ttl_ms", 1000}, {"fair", 1}},
                                 {{"ttl_ms", 1000}, {"data", 1}},
                                 {{"ttl_ms", 1000}, {"data", std::string(1025, 'x')}},
                                 {{"ttl_ms", 1000}, {"data", std::string(200, '\x01')}},
                                 json::array(),
                                 "text"};
  for (const auto& body : bodies) {
    const auto answer = put(server, "job", first_id, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(code_of(answer), "invalid_argument") << body;
  }
  EXPECT_EQ(put(server, "job", "short").status, 400);
  EXPECT_EQ(put(server, "job", std::string(65, 'x')).status, 400);
  EXPECT_EQ(put(server, "job", encoded("an id with spaces in it")).status, 400);
  EXPECT_EQ(put(server, "line\nbreak", first_id).status, 400);
  EXPECT_EQ(
      server.ask("PUT", path_of("job", first_id), {{"ttl_ms", 1000}}, bearer(worker), "text/plain").status,
      400);
  EXPECT_FALSE(admin{db}.show("job"));
}

TEST_P(lock_api_test, describes_itself) {
  const auto server = start_server();
  const auto answer = server.get("/v1/openapi.json");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body)["paths"], api.at("paths"));
  for (const auto& [path, methods] : api.at("paths").items()) {
    for (const auto& [method, _] : methods.items()) {
      if (method == "parameters") continue;
      auto upper = method;
      for (auto& letter : upper) letter = static_cast<char>(letter - 'a' + 'A');
      const auto found = server.ask(upper, path, json::object(), bearer(worker));
      EXPECT_NE(found.status, 404) << method << ' ' << path;
      EXPECT_NE(found.status, 405) << method << ' ' << path;
    }
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(lock_api_test);

// On a server of the test's own.
class lock_api_away_test : public testing::TestWithParam<std::string> {};

TEST_P(lock_api_away_test, a_hold_survives_a_crash_of_the_database) {
  const auto database = make_own_server(GetParam());
  migrator{database->url()}.up();
  const auto worker = serve::make_token("worker", {serve::role::lock});
  const temporary_folder folder;
  const auto server = started(start_rowlock(
      {"serve", "--listen", "127.0.0.1:0", "--rate", "0", "--tokens", token_file(folder, {worker})},
      {{"ROWLOCK_URL", database->url()}}));
  const auto ask = [&](const char* method, const char* verb) {
    return server.ask(method, path_of("job", first_id) + verb, {{"ttl_ms", 3'600'000}}, bearer(worker));
  };
  const auto held = ask("PUT", "");
  ASSERT_EQ(held.status, 200) << held.body;
  database->crash();
  EXPECT_EQ(ask("POST", "/renew").status, 503);
  database->start();
  http_answer renewed;
  eventually("the database is back", [&] { return (renewed = ask("POST", "/renew")).status != 503; });
  ASSERT_EQ(renewed.status, 200) << renewed.body;
  EXPECT_EQ(json::parse(renewed.body)["token"], json::parse(held.body)["token"]);
  EXPECT_EQ(json::parse(ask("PUT", "").body)["hold_id"], json::parse(held.body)["hold_id"]);
  EXPECT_EQ(ask("DELETE", "").status, 200);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(lock_api_away_test);
INSTANTIATE_TEST_SUITE_P(servers, lock_api_away_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace rowlock::test
