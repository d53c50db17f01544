// The costs that docs/operations.md states. Each test prints its figure.
#include "cli/cli_test.hpp"
#include "migrate/blank_database.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <cstdio>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class cost_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { migrator{db.url(), db.settings()}.up(); }

  blank_database db{GetParam()};
};

TEST_P(cost_test, a_client_has_no_lease_before_its_first_acquire) {
  const auto client = connect(db.url(), db.settings());
  EXPECT_EQ(db.run("SELECT count(*) FROM rowlock_lease"), "0");
  const auto held = mutex(client, "billing/nightly").acquire();
  EXPECT_EQ(db.run("SELECT count(*) FROM rowlock_lease"), "1");
}

TEST_P(cost_test, a_client_takes_the_connections_of_its_options) {
  if (GetParam() != "postgres") return;  // the other servers do not tell whose a connection is
  for (const int connections : {2, 3}) {
    auto settings = db.settings();
    settings.connections = connections;
    settings.application = "cost test " + std::to_string(connections);
    const auto client = connect(db.url(), settings);
    std::vector<hold> held;
    for (int i = 0; i < 20; ++i) held.push_back(mutex(client, "n" + std::to_string(i)).acquire());
    const auto taken = [&] {
      return db.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rowlock " +
                    settings.application + "'");
    };
    eventually("it has its connections", [&] { return taken() == std::to_string(connections); });
  }
}

// With the default ttl a process renews six times a minute.
TEST_P(cost_test, a_renewal_is_at_most_two_statements) {
  auto settings = db.settings();
  settings.ttl = 2s;
  settings.statement_timeout = 500ms;
  settings.renew_interval = 100ms;
  settings.sweep_interval.reset();
  const auto client = connect(db.url(), settings);
  const auto held = mutex(client, "billing/nightly").acquire();
  const auto renewals = [&] { return client.stats().renewals; };
  eventually("it renews", [&] { return renewals() >= 2; });
  const auto first = client.stats();
  eventually("it renews again", [&] { return renewals() >= first.renewals + 10; });
  const auto last = client.stats();
  const auto each = static_cast<double>(last.statements - first.statements) /
                    static_cast<double>(last.renewals - first.renewals);
  std::printf("%s: %.1f statements per renewal\n", GetParam().c_str(), each);
  EXPECT_GT(each, 0.5);
  EXPECT_LE(each, 2.5) << "rounding at both ends";
}

ROWLOCK_FOR_EACH_SQL_STORE(cost_test);

// Not for SQLite, which writes whole pages.
class log_cost_test : public cost_test {
 protected:
  // How many bytes the server has written to its log so far, for everybody.
  std::int64_t log_bytes() const {
    return std::stoll(db.run(GetParam() == "postgres"
                                 ? "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
                                 : "SELECT variable_value FROM /*M! information_schema.global_status */ "
                                   "/*!80000 performance_schema.global_status */ WHERE variable_name IN "
                                   "('Innodb_lsn_current', 'Innodb_redo_log_current_lsn')"));
  }
};

// Other suites use the same server, so the cheapest of many short rounds counts: nobody else writes during every one.
TEST_P(log_cost_test, an_acquire_and_a_release_write_less_than_2_kilobytes) {
  const auto client = connect(db.url(), db.settings());
  mutex lock{client, "billing/nightly"};
  lock.acquire().release();
  constexpr int pairs = 10;
  std::int64_t least = 0;
  for (int round = 0; round < 80; ++round) {
    const auto before = log_bytes();
    for (int i = 0; i < pairs; ++i) lock.acquire().release();
    const auto written = (log_bytes() - before) / pairs;
    least = round == 0 ? written : std::min(least, written);
  }
  std::printf("%s: %lld bytes of log per acquire and release\n", GetParam().c_str(),
              static_cast<long long>(least));
  EXPECT_GT(least, 50);
  EXPECT_LT(least, 2048);
}

INSTANTIATE_TEST_SUITE_P(stores, log_cost_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(log_cost_test);

}  // namespace
}  // namespace rowlock::test
