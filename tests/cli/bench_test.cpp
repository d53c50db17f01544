#include "cli/cli_test.hpp"
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif

#include <algorithm>
#include <filesystem>
#include <regex>

namespace rowlock::test {

namespace {

class bench_test : public cli_test {
 protected:
  // The shortest run that still alternates between rowlock and its floor as often as a real one.
  nlohmann::json bench(const std::string& scenario, const words& more = {},
                       const std::string& seconds = "0.2") {
    words arguments{scenario, "--seconds", seconds, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = start_bench(arguments)->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  std::unique_ptr<command_process> start_bench(const words& arguments) const {
    auto variables = environment();
    variables["ROWLOCK_URL"] = as_role(store->url(), role_use::migrate);  // the benchmark makes tables
    return start_program(ROWLOCK_BENCH_PATH, arguments, variables);
  }

  // The names of all tables in the database, as the database's own command shows them.
  std::string tables() const {
    std::string url = store->url();
    words command = url.starts_with("sqlite:")
                        ? words{"sqlite3", "-cmd", ".timeout 20000", url.substr(7), ".tables"}
                        : words{"psql", "-d", url, "-Atc", "SELECT tablename FROM pg_tables"};
#ifdef ROWLOCK_TEST_MYSQL
    if (has_mysql_dialect(GetParam()))
      command = {"sh", "-c", mysql_client_command(GetParam(), url) + " -e 'SHOW TABLES'"};
#endif
    auto result = command_process{command, {}}.wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
};

void expect_measured(const nlohmann::json& one, const std::string& scenario, int threads) {
  EXPECT_EQ(one.at("scenario"), scenario);
  EXPECT_EQ(one.at("threads"), threads);
  EXPECT_FALSE(one.at("unit").get<std::string>().empty());
  EXPECT_GT(one.at("rowlock").get<double>(), 0);
  EXPECT_GT(one.at("floor").get<double>(), 0);
  // All three are rounded to four digits.
  EXPECT_NEAR(one.at("ratio").get<double>(), one.at("rowlock").get<double>() / one.at("floor").get<double>(),
              0.01 * one.at("ratio").get<double>());
  EXPECT_THAT(
      one.at("durability").get<std::string>(),
      testing::AnyOf(testing::HasSubstr("synchronous_commit=on"), testing::HasSubstr("synchronous=FULL"),
                     testing::HasSubstr("innodb_flush_log_at_trx_commit=1")));
}

}  // namespace

TEST_P(bench_test, uncontended_is_one_thread_against_one_connection) {
  auto results = bench("uncontended");
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "uncontended", 1);
  EXPECT_EQ(results[0].at("floor_by_connections").size(), 1u);
  EXPECT_GE(results[0].at("rounds"), 5);
}

TEST_P(bench_test, a_pair_has_its_cost) {
  const auto one = bench("uncontended", {"--rounds", "2"}).at(0);
  for (const std::string side : {"", "floor_"}) {
    EXPECT_GT(one.at(side + "client_cpu_us_per_pair").get<double>(), 0);
    EXPECT_GE(one.at(side + "context_switches_per_pair").get<double>(), 0);
    // The test's own server is on this machine, so its time is known.
    EXPECT_EQ(one.contains(side + "server_cpu_us_per_pair"), GetParam() != "sqlite");
    EXPECT_EQ(one.contains(side + "wal_bytes_per_pair"), GetParam() == "postgres");
  }
}

TEST_P(bench_test, parallel_names_the_floor_of_each_number_of_connections) {
  auto results = bench("parallel", {"--threads", "8", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "parallel", 8);
  double best = 0;
  for (const char* connections : {"4", "16", "64"}) {
    best = std::max(best, results[0].at("floor_by_connections").at(connections).get<double>());
  }
  EXPECT_EQ(results[0].at("floor").get<double>(), best);
}

TEST_P(bench_test, all_is_several_names_against_one_transaction) {
  auto results = bench("all", {"--rounds", "1"});
  ASSERT_EQ(results.size(), 3u);
  expect_measured(results[0], "all", 2);
  expect_measured(results[1], "all", 8);
  expect_measured(results[2], "all", 32);
}

TEST_P(bench_test, tasks_are_coroutines) {
  auto results = bench("tasks", {"--threads", "50", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "tasks", 50);
  EXPECT_EQ(results[0].at("floor_by_connections").size(), 3u);
}

TEST_P(bench_test, hot_is_one_name_in_one_process_and_in_four) {
  auto results = bench("hot", {"--threads", "8", "--rounds", "1"}, "0.5");
  ASSERT_EQ(results.size(), 2u);
  expect_measured(results[0], "hot", 8);
  expect_measured(results[1], "hot", 8);
  EXPECT_NE(results[0].at("unit"), results[1].at("unit"));
  EXPECT_EQ(results[1].at("processes"), 4);
  EXPECT_GT(results[1].at("client_cpu_us_per_pair").get<double>(), 0);
}

TEST_P(bench_test, names_are_in_tables_that_are_gone_afterwards) {
  const auto before = tables();
  auto results = bench("names", {"--threads", "3000", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "names", 3000);
  EXPECT_EQ(tables(), before);
}

TEST_P(bench_test, threads_that_do_not_wait_for_their_releases_are_compared_with_those_that_do) {
  auto results = bench("later", {"--threads", "4", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "later", 4);
}

TEST_P(bench_test, churn_is_compared_with_the_same_without_a_snapshot) {
  // A slow server creates the names for longer than the shortest run lasts.
  auto results = bench("churn", {"--threads", "4", "--rounds", "1"}, "1");
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "churn", 4);
}

TEST_P(bench_test, readers_and_their_writers_are_compared_with_rows_that_come_and_go) {
  auto results = bench("readers", {"--rounds", "1"});
  ASSERT_EQ(results.size(), 2u);
  expect_measured(results[0], "readers", 1);
  expect_measured(results[1], "readers", 16);
  EXPECT_EQ(results[0].at("floor_by_connections").size(), 1u);
  EXPECT_EQ(results[1].at("floor_by_connections").size(), 3u);
  EXPECT_EQ(results[0].at("writes"), "one in 20");
  EXPECT_GE(results[0].at("client_statements_per_pair").get<double>(), 2) << "one thread, so no batches";
}

TEST_P(bench_test, semaphore_has_the_capacity_that_was_asked_for) {
  for (const std::string capacity : {"2", "3"}) {
    auto results = bench("semaphore", {"--threads", "4", "--capacity", capacity, "--rounds", "1"});
    ASSERT_EQ(results.size(), 1u);
    expect_measured(results[0], "semaphore", 4);
    EXPECT_EQ(results[0].at("capacity"), std::stoi(capacity));
  }
}

TEST_P(bench_test, unfair_is_compared_with_fair) {
  auto results = bench("unfair", {"--threads", "4", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "unfair", 4);
}

TEST_P(bench_test, quorum_is_three_members_which_are_gone_afterwards) {
  const auto before = tables();
  auto results = bench("quorum", {"--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "quorum", 1);
  EXPECT_EQ(results[0].at("members"), 3);
  EXPECT_GT(results[0].at("floor_with_a_round_for_the_token").get<double>(), 0);
  EXPECT_GE(results[0].at("client_statements_per_pair").get<double>(), 4) << "a majority's, twice";
  EXPECT_EQ(tables(), before);
  if (GetParam() == "sqlite") {
    EXPECT_FALSE(std::filesystem::exists(store->url().substr(7) + "-quorum1"));
  }
}

TEST_P(bench_test, handover_passes_the_lock_between_processes) {
  auto results = bench("handover", {}, "0.3");
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "handover", 2);
  EXPECT_GT(results[0].at("hand_overs").get<int>(), 5);
  EXPECT_LE(results[0].at("p50_ms").get<double>(), results[0].at("p99_ms").get<double>());
}

TEST_P(bench_test, handover_local_passes_the_lock_between_threads) {
  auto results = bench("handover-local", {}, "0.3");
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "handover-local", 4);
  EXPECT_GT(results[0].at("hand_overs").get<int>(), 5);
  EXPECT_LE(results[0].at("p50_ms").get<double>(), results[0].at("p99_ms").get<double>());
}

TEST_P(bench_test, waiters_cost_is_counted) {
  auto results = bench("waiters", {"--threads", "20"}, "1");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].at("threads"), 20);
  EXPECT_GT(results[0].at("rowlock").get<double>(), 0);
  if (!results[0].contains("writes_beyond_renewals")) return;
  // A machine that pauses may delay what the waiters wrote before the measurement.
  if (results[0].at("writes_beyond_renewals").get<int>() != 0)
    results = bench("waiters", {"--threads", "20"}, "1");
  EXPECT_EQ(results.at(0).at("writes_beyond_renewals"), 0);
}

TEST_P(bench_test, held_locks_are_renewed_by_one_row) {
  auto results = bench("held", {"--threads", "200", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "held", 200);
  EXPECT_EQ(results[0].at("rowlock").get<double>(), 1);
}

TEST_P(bench_test, what_a_client_holds_is_read_page_by_page) {
  auto results = bench("reconcile", {"--threads", "2500", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "reconcile", 2500);
  EXPECT_EQ(results[0].at("pages"), 3);
}

TEST_P(bench_test, its_table_is_gone_afterwards) {
  EXPECT_THAT(tables(), testing::Not(testing::HasSubstr("bench_floor")));
  auto running = start_bench({"uncontended", "--seconds", "1", "--rounds", "1"});
  eventually("the table is there", [&] { return tables().find("bench_floor") != std::string::npos; });
  EXPECT_EQ(running->wait().exit_code, 0);
  EXPECT_THAT(tables(), testing::Not(testing::HasSubstr("bench_floor")));
}

TEST_P(bench_test, without_rowlocks_tables_it_makes_none_of_its_own) {
  EXPECT_EQ(rowlock({"migrate", "down", "--to", "0", "--destroy-tokens"}).exit_code, 0);
  EXPECT_EQ(start_bench({"uncontended"})->wait().exit_code, 78);
  EXPECT_THAT(tables(), testing::Not(testing::HasSubstr("bench_floor")));
}

TEST_P(bench_test, all_are_told_of_a_lost_lease) {
  auto results = bench("lost", {"--threads", "1500", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "lost", 1500);
}

TEST_P(bench_test, clients_of_a_server_are_compared_with_threads) {
  auto results = bench("http", {"--threads", "3", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "http", 3);
}

TEST_P(bench_test, waits_at_a_server_leave_nothing_behind) {
  auto results = bench("http-waits", {"--threads", "30", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "http-waits", 30);
  EXPECT_LT(results[0]["server_threads"], 200);
  for (const auto& lock : json_of({"list"})) {
    EXPECT_EQ(lock["in_use"], 0) << lock;
    EXPECT_EQ(lock["waiters"], 0) << lock;
  }
}

TEST_P(bench_test, a_scrape_is_measured_beside_many_locks) {
  auto results = bench("http-metrics", {"--threads", "300", "--rounds", "1"});
  ASSERT_EQ(results.size(), 1u);
  expect_measured(results[0], "http-metrics", 300);
  EXPECT_GE(results[0]["locks"], 300);
}

TEST_P(bench_test, a_scenario_that_does_not_exist_is_a_usage_error) {
  auto result = start_bench({"speed"})->wait();
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_THAT(result.err, testing::HasSubstr("handover"));
}

TEST_P(bench_test, help_says_of_each_scenario_what_its_floor_is) {
  const auto help = std::regex_replace(start_bench({"--help"})->wait().out, std::regex{"[ \n]+"},
                                       " ");  // lines are wrapped
  EXPECT_THAT(help, testing::HasSubstr("readers: 1 and 16 threads"));
  for (const char* scenario :
       {"uncontended", "parallel", "later", "tasks", "hot", "names", "churn", "readers", "semaphore",
        "unfair", "all", "quorum", "handover", "handover-local", "waiters", "held", "reconcile", "lost"}) {
    EXPECT_THAT(help, testing::ContainsRegex(std::string{" "} + scenario + ": [^:]+ Floor: [^:]+"));
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(bench_test);

}  // namespace rowlock::test
