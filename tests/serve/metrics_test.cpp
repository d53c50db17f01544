// /metrics, as Prometheus reads it.
#include "serve/serve_test.hpp"

#include "docs/document.hpp"
#include "support/shortest_time.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <fstream>
#include <regex>
#include <set>

namespace rowlock::test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

// What promtool says, of Debian's package prometheus, which scripts/setup installs; "" if it has no objection.
std::string promtool(const std::string& arguments) {
  const auto ran = command_process{{"sh", "-c", "promtool " + arguments}, {}}.wait();
  return ran.exit_code == 0 ? "" : "exit code " + std::to_string(ran.exit_code) + ": " + ran.out + ran.err;
}

// The metrics that a text names.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex name{R"(\browlock_[a-z_]+)"};
  std::set<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), name}; at != std::sregex_iterator{}; ++at) {
    found.insert(std::regex_replace(at->str(), std::regex{"_(bucket|count|sum)$"}, ""));
  }
  return found;
}

}  // namespace

class metrics_test : public serve_test {};

TEST_P(metrics_test, show_the_locks) {
  auto holder = hold("billing/nightly");
  auto waiter = wait_for("billing/nightly");
  rowlock({"run", "free", "--", "true"});
  const auto server =
      start_serve({"--sweep-every", "0", "--metrics-every", "1h", "--metrics-names", "billing/*"});
  EXPECT_EQ(metrics_of(server, "rowlock_locks "), "rowlock_locks 2\n");
  const auto text = server.get("/metrics").body;
  EXPECT_THAT(text, AllOf(HasSubstr("\nrowlock_up 1\n"), HasSubstr("\nrowlock_locks_held 1\n"),
                          HasSubstr("\nrowlock_waiters 1\n"), HasSubstr("\nrowlock_expired_leases 0\n")));
  EXPECT_THAT(text, HasSubstr("\nrowlock_lock_in_use{name=\"billing/nightly\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nrowlock_lock_waiters{name=\"billing/nightly\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("\nrowlock_schema_version " + std::to_string(required_schema_version()) + "\n"));
  EXPECT_THAT(text, HasSubstr("rowlock_serve_call_seconds_count{call=\"list\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("name=\"free\"")));
  EXPECT_THAT(server.get("/metrics").headers.at("content-type"), HasSubstr("version=0.0.4"));
}

TEST_P(metrics_test, count_expired_leases) {
  auto holder = hold("job");
  const auto lease = store->open()->connect()->show("job")->holders.at(0).lease.id;
  holder->send(SIGKILL);
  holder->wait();
  store->expire(lease);
  const auto server = start_serve({"--sweep-every", "0"});
  EXPECT_EQ(metrics_of(server, "rowlock_expired_leases"), "rowlock_expired_leases 1\n");
}

TEST_P(metrics_test, escape_hostile_names) {
  const std::string hostile = "a\"} 1\\n b\\{}<script>\xE2\x80\xAE'; DROP TABLE";
  ASSERT_EQ(rowlock({"run", hostile, "--", "true"}).exit_code, 0);
  const auto server = start_serve({"--sweep-every", "0", "--metrics-names", "*"});
  const auto lines = metrics_of(server, "rowlock_lock_in_use");
  EXPECT_EQ(lines,
            "rowlock_lock_in_use{name=\"a\\\"} 1\\\\n b\\\\{}<script>\xE2\x80\xAE'; DROP TABLE\"} 0\n");
}

TEST_P(metrics_test, say_when_names_are_cut_and_answer_quickly) {
  {
    // What only reads cannot make names, and 400 acquires in one process are quicker than 400 processes.
    auto settings = rowlock::options{};
    settings.prefix = store->options().prefix;
    settings.schema = store->options().schema;
    const auto db = connect(store->url(), settings);
    for (int i = 0; i < 400; ++i) mutex{db, "job/" + std::to_string(i)}.acquire().release();
  }
  const auto server =
      start_serve({"--sweep-every", "0", "--metrics-every", "1h", "--metrics-names", "job/*"});
  EXPECT_EQ(metrics_of(server, "rowlock_serve_names_cut"), "rowlock_serve_names_cut 67\n");
  constexpr std::chrono::seconds bound{2};
  std::string text;
  EXPECT_LT(shortest_time(bound, [&] { text = server.get("/metrics").body; }), bound)
      << "0.1 s on a quiet machine";
  EXPECT_THAT(text, HasSubstr("\nrowlock_locks 400\n"));
  EXPECT_THAT(text, HasSubstr("rowlock_serve_call_seconds_count{call=\"list\"} 1\n"))
      << "scrapes read nothing";
}

TEST_P(metrics_test, are_what_the_page_the_rules_and_the_dashboard_name) {
  auto holder = hold("job");
  const auto server = start_serve({"--metrics-names", "*"});
  metrics_of(server, "rowlock_client_");
  metrics_of(server, "rowlock_locks");
  const auto text = server.get("/metrics").body;
  std::set<std::string> served;
  for (const auto& name : metrics_in(text)) {
    if (text.find("# TYPE " + name + ' ') != std::string::npos) served.insert(name);
  }
  served.insert("rowlock_serve_errors_total");  // there was none
  EXPECT_EQ(metrics_in(text_of("docs/serve.md")), served);
  for (const auto* file : {"share/prometheus/rowlock.rules.yml", "share/grafana/rowlock.json"}) {
    EXPECT_THAT(metrics_in(text_of(file)), testing::IsSubsetOf(served)) << file;
  }
}

TEST_P(metrics_test, please_promtool) {
  auto holder = hold("job");
  const auto server = start_serve({"--metrics-names", "*"});
  metrics_of(server, "rowlock_locks");
  const temporary_folder folder;
  const auto path = (folder.path() / "metrics").string();
  std::ofstream{path} << server.get("/metrics").body;
  EXPECT_EQ(promtool("check metrics < " + path), "");
}

ROWLOCK_FOR_EACH_SQL_STORE(metrics_test);

TEST(rules, please_promtool) {
  EXPECT_EQ(promtool("check rules " ROWLOCK_SOURCE_DIR "/share/prometheus/rowlock.rules.yml"), "");
  EXPECT_EQ(promtool("test rules " ROWLOCK_SOURCE_DIR "/tests/serve/rules.test.yml"), "");
}

TEST(dashboard, is_json) {
  const auto dashboard = nlohmann::json::parse(text_of("share/grafana/rowlock.json"));
  EXPECT_EQ(dashboard.at("title"), "rowlock");
  EXPECT_GE(dashboard.at("panels").size(), 6U);
}

}  // namespace rowlock::test
