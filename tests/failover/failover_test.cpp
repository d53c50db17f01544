#include "failover_test.hpp"

#include <rowlock/migrate.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rowlock::test {

void failover_test::use(const std::string& url) {
  url_ = url;
  migrator{url_}.up();
}

worker_settings failover_test::settings(const std::string& application) const {
  worker_settings made;
  made.url = url_;
  made.prefix = "rowlock_";
  made.application = application;
  made.ttl = ttl_;
  made.statement_timeout = 2s;
  return made;
}

void failover_test::until_queued(std::int64_t count) const {
  until(std::to_string(count) + " waiters stand in the queue",
        [&] { return number("SELECT count(*) FROM rowlock_queue") == count; });
}

std::string failover_test::exported(const char* name, const char* script) {
  const char* value = std::getenv(name);
  if (!value || !*value) throw std::runtime_error(std::string{name} + " is not set: run under " + script);
  return value;
}

void failover_test::control(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;
  // The control program writes a log of the same name beside itself.
  std::ifstream log{command.substr(0, command.find(' ')) + ".log"};
  std::ostringstream said;
  said << log.rdbuf();
  throw std::runtime_error("failed: " + command + '\n' + said.str());
}

failover_test::crowd failover_test::gather() {
  const auto session = sql_session::open(url_);
  ledger{*session, "rowlock_"}.create({"one", "two"});
  crowd all{start("holder"), start("waiter"), {}};
  all.token = all.holder.acquire("nightly").token;
  all.waiter.tell("acquire nightly");
  until_queued(1);
  for (int i = 0; i < 2; ++i) {
    all.writers.push_back(start("writer"));
    EXPECT_EQ(all.writers.back().ask("load guarded 2 0 one two"), "loading");
  }
  until("work is done", [&] { return written() > 10; });
  return all;
}

void failover_test::expect_to_have_gone_on(crowd& all) {
  std::int64_t before = -1;
  until(
      "work goes on",
      [&] {
        try {
          if (before < 0) before = written();
          return written() > before + 10;
        } catch (const std::exception&) {
          return false;  // the server is about to leave
        }
      },
      60s);
  EXPECT_EQ(all.holder.ask("state"), "valid none");
  EXPECT_TRUE(all.waiter.is_silent());
  std::int64_t confirmed = 0;
  for (auto& one : all.writers) {
    auto counts = one.counts("halt", 60s);
    EXPECT_EQ(counts["unaware"], 0) << one.reported();
    EXPECT_EQ(counts["lost"], 0) << one.reported();
    EXPECT_EQ(counts["wrong"], 0) << one.reported();
    confirmed += counts["written"];
  }
  const auto session = sql_session::open(url_);
  const auto found = ledger{*session, "rowlock_"}.check();
  EXPECT_GE(found.logged, confirmed) << "a confirmed write is missing";
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(all.holder.ask("state"), "valid none");
  EXPECT_NE(all.holder.ask("release"), "lost");
  EXPECT_GT(all.waiter.grant(30s).token, all.token);
  EXPECT_EQ(all.waiter.ask("release"), "released");
}

}  // namespace rowlock::test
