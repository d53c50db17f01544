// A Prometheus server beside `rowlock serve`, configured as docs/serve.md says. It is Debian's, which scripts/setup
// installs for promtool.
#include "serve/serve_test.hpp"

#include "child_process.hpp"
#include "serve/tokens.hpp"
#include "support/loopback.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace rowlock::test {

namespace {

using nlohmann::json;

}  // namespace

class prometheus_server_test : public serve_test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder.path() / name} << text;
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }

  void start_prometheus(const served& target) {
    write("prometheus.yml", fmt::format(R"(
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 200ms}}
rule_files: [{}/share/prometheus/rowlock.rules.yml]
scrape_configs:
  - job_name: rowlock
    authorization: {{credentials_file: {}}}
    static_configs: [{{targets: ["127.0.0.1:{}"]}}]
)",
                                        ROWLOCK_SOURCE_DIR, path("credentials"), target.port));
    port = free_port();
    prometheus.emplace(words{"/usr/bin/prometheus", "--config.file=" + path("prometheus.yml"),
                             "--storage.tsdb.path=" + path("data"),
                             "--web.listen-address=127.0.0.1:" + std::to_string(port), "--log.level=warn"});
  }

  // The data of an answer of its API. Empty: it does not answer yet.
  std::optional<json> ask(const std::string& path) const {
    try {
      const auto answer = http_get(port, "/api/v1/" + path);
      if (answer.status == 200) return json::parse(answer.body).at("data");
    } catch (const std::runtime_error&) {
      // It does not listen yet.
    }
    return {};
  }
  // The newest value of a metric that has one series. Empty: there is none.
  std::string value_of(const std::string& metric) const {
    const auto found = ask("query?query=" + metric);
    if (!found || found->at("result").size() != 1) return {};
    return found->at("result").at(0).at("value").at(1);
  }

  // Null: it is neither pending nor firing.
  json alert_of(const std::string& name) const {
    const auto found = ask("alerts");
    if (!found) return {};
    for (const auto& alert : found->at("alerts")) {
      if (alert.at("labels").at("alertname") == name) return alert;
    }
    return {};
  }

  temporary_folder folder;
  std::uint16_t port = 0;
  std::optional<child_process> prometheus;
};

TEST_P(prometheus_server_test, scrapes_the_metrics_and_evaluates_the_rules) {
  const auto reader = serve::make_token("prometheus", {serve::role::read});
  write("tokens", reader.line + '\n');
  std::filesystem::permissions(path("tokens"), std::filesystem::perms::owner_read);
  write("credentials", reader.token);
  auto holder = hold("billing/nightly");
  auto server = start_serve({"--tokens", path("tokens"), "--metrics-names", "*"});
  start_prometheus(server);

  eventually("the scrapes show the lock",
             [&] { return value_of("rowlock_lock_in_use%7Bname=%22billing/nightly%22%7D") == "1"; });
  eventually("the process leads", [&] { return value_of("rowlock_serve_leads") == "1"; });
  // A slow scrape makes one that is pending until the next evaluation.
  eventually("no alert says that it is down", [&] { return alert_of("RowlockServeDown") == nullptr; });

  json rules;
  const auto is_evaluated = [](const json& rule) { return rule.at("health") != "unknown"; };
  eventually("the rules are evaluated", [&] {
    const auto found = ask("rules");
    if (!found || found->at("groups").empty()) return false;
    rules = found->at("groups").at(0).at("rules");
    return std::ranges::all_of(rules, is_evaluated);
  });
  EXPECT_GE(rules.size(), 10U);
  for (const auto& rule : rules) EXPECT_EQ(rule.at("health"), "ok") << rule;

  server.process->send(SIGTERM);
  server.process->wait();
  eventually("the alert is pending", [&] { return alert_of("RowlockServeDown") != nullptr; });
  EXPECT_EQ(alert_of("RowlockServeDown").at("state"), "pending") << "it fires after two minutes";
}

INSTANTIATE_TEST_SUITE_P(stores, prometheus_server_test, testing::ValuesIn(selected_of({"sqlite"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(prometheus_server_test);

}  // namespace rowlock::test
