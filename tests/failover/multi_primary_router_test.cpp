// A replication group of MySQL in which every member takes writes, behind a MySQL Router that gives its connections to
// the members in turn (scripts/with-group-replication --multi-primary -- scripts/with-mysql-router).
#include "group_test.hpp"
#include "visits_report.hpp"

#include <rowlock/doctor.hpp>

#include <algorithm>
#include <set>

namespace rowlock::test {
namespace {

class multi_primary_router_test : public group_test {
 protected:
  // Longer than the group takes to give a killed member up on a busy machine.
  multi_primary_router_test() { ttl_ = 30s; }

  // The base class makes the tables through the first member, and waits until all members have them.
  void SetUp() override {
    ASSERT_EQ(exported("ROWLOCK_TEST_GROUP_MODE", script), "multi");
    group_test::SetUp();
    behind_ = with_database(exported("ROWLOCK_TEST_MYSQL_URL", script), url().substr(url().rfind('/') + 1));
    // The application's connection may be at another member than the one that granted. Its transactions must see what
    // the previous holder has written, and the ids that they give their lines must be above the ids of all lines that
    // were committed before.
    for (const int member : {1, 2, 3})
      change("sql " + std::to_string(member) + " \"SET GLOBAL group_replication_consistency = 'BEFORE'\"");
  }

  const std::string& behind() const { return behind_; }
  worker start(const std::string& application, const std::string& load = {}) const {
    auto made = settings(application);
    made.url = behind_;
    worker started{made};
    if (!load.empty()) {
      EXPECT_EQ(started.ask("load " + load), "loading");
    }
    return started;
  }

  // Three processes that make guarded writes under mutexes, and three that use permits.
  std::vector<worker> start_loads() const {
    std::vector<worker> loads;
    for (int i = 0; i < 3; ++i) {
      loads.push_back(start("writer", "guarded 2 0 one two"));
      loads.push_back(start("visitor", "semaphore 2 0 gpus 5"));
    }
    return loads;
  }

  void create_tables() const {
    const auto session = sql_session::open(at({1}));
    ledger{*session, "rowlock_"}.create({"one", "two"});
    witness{*session, "rowlock_"}.create();
    until_everywhere("SELECT count(*) = 2 FROM rowlock_counter");
    until_everywhere(
        "SELECT count(*) = 3 FROM information_schema.triggers WHERE trigger_schema = DATABASE() AND "
        "trigger_name LIKE "
        "'rowlock\\_saw\\_%'");
  }

  // What the first member shows now, which may be a moment old. A causal read would not end while the group waits for
  // the killed member, and nothing limits the time of a test's own statements.
  std::int64_t shown(const std::string& sql) const {
    const auto session = sql_session::open(at({1}));
    session->run("SET SESSION group_replication_consistency = 'EVENTUAL'");
    return session->number(sql);
  }
  std::int64_t last_write() const { return shown("SELECT max(id) FROM rowlock_log"); }
  std::int64_t last_visit() const { return shown("SELECT max(id) FROM rowlock_witness"); }

  // Waits until each of the six processes has been granted something later, and all of them many things.
  void until_all_go_on_after(std::int64_t write, std::int64_t visit) const {
    const auto goes_on = [&](const std::string& from) {
      return shown("SELECT count(*) > 30 AND count(DISTINCT pid) = 3 " + from) == 1;
    };
    try {
      until(
          "all processes go on",
          [&] {
            return goes_on("FROM rowlock_log WHERE id > " + std::to_string(write)) &&
                   goes_on("FROM rowlock_witness WHERE what = 'came' AND id > " + std::to_string(visit));
          },
          90s);
    } catch (const std::runtime_error&) {
      for (const int member : {1, 2})
        ADD_FAILURE() << "member " << member << " sees: " << members_seen_by(member);
      throw;
    }
  }

  // Ends the loads. Returns how many guarded writes were confirmed.
  static std::int64_t halt(std::vector<worker>& loads) {
    std::int64_t written = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      auto counts = loads[i].counts("halt", 60s);
      SCOPED_TRACE(loads[i].reported());
      EXPECT_EQ(counts["unaware"], 0);
      EXPECT_EQ(counts["wrong"], 0);
      EXPECT_EQ(counts["lost"], 0);
      if (i % 2 == 0) written += counts["written"];
    }
    return written;
  }

  void expect_nothing_granted_twice(std::int64_t written) const {
    const auto session = sql_session::open(at({1}));
    const auto found = ledger{*session, "rowlock_"}.check();
    EXPECT_GE(found.logged, written) << "a confirmed write is missing";
    EXPECT_EQ(found.counted, found.logged);
    EXPECT_EQ(found.repeated_values, 0);
    EXPECT_EQ(found.token_faults, 0);
    // A visit whose line "left" went to the killed member has no end.
    const auto visits = report_on(witness{*session, "rowlock_"}.lines(), 5, without_leaving::not_counted);
    EXPECT_EQ(visits.overfull, 0);
    EXPECT_EQ(visits.token_faults, 0);
    EXPECT_GT(visits.most_sharing, 1) << "nobody was inside beside another";
  }

 private:
  static constexpr const char* script =
      "scripts/with-group-replication --multi-primary -- scripts/with-mysql-router";

  std::string behind_;
};

TEST_F(multi_primary_router_test, leads_to_every_member_and_is_known_to_the_doctor) {
  std::set<std::int64_t> members;
  for (int i = 0; i < 6; ++i) members.insert(sql_session::open(behind())->number("SELECT @@server_id"));
  EXPECT_EQ(members, (std::set<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(std::ranges::count(diagnose(behind()), "several-primaries", &finding::code), 1);
}

TEST_F(multi_primary_router_test, grants_nothing_twice_and_goes_on_when_a_member_is_killed) {
  create_tables();
  auto holder = start("holder");
  const auto token = holder.acquire("nightly").token;
  auto waiter = start("waiter");
  waiter.tell("acquire nightly");
  until("the waiter stands in the queue",
        [&] { return shown("SELECT count(*) FROM rowlock_queue WHERE name = 'nightly'") == 1; });

  const auto commits_of = [](int member) {
    return std::stoll(
        ask(member,
            "SELECT count_transactions_local_proposed FROM "
            "performance_schema.replication_group_member_stats WHERE member_id = @@server_uuid"));
  };
  std::vector<std::int64_t> before;
  for (const int member : {1, 2, 3}) before.push_back(commits_of(member));
  auto loads = start_loads();
  until_all_go_on_after(0, 0);
  for (const int member : {1, 2, 3}) {
    until("every member takes writes",
          [&] { return commits_of(member) > before[static_cast<std::size_t>(member - 1)] + 20; });
  }

  kill(3);
  until_all_go_on_after(last_write(), last_visit());
  EXPECT_EQ(holder.ask("state"), "valid none");
  EXPECT_TRUE(waiter.is_silent());

  expect_nothing_granted_twice(halt(loads));
  EXPECT_EQ(holder.ask("state"), "valid none");
  EXPECT_NE(holder.ask("release"), "lost");
  EXPECT_GT(waiter.grant(30s).token, token);
  EXPECT_EQ(waiter.ask("release"), "released");
  // No permit was lost with the member.
  EXPECT_TRUE(holder.ask("acquire_permits gpus 5 5").starts_with("granted "));
}

}  // namespace
}  // namespace rowlock::test
