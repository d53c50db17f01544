// A replication group of MySQL in which every member takes writes (scripts/with-group-replication --multi-primary).
#include "group_test.hpp"

#include "store/backends.hpp"
#include "support/background.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/guard/mysql.hpp>
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace rowlock::test {
namespace {

class multi_primary_test : public group_test {
 protected:
  std::vector<worker> load(const std::string& mode, int rounds, const std::string& names) {
    std::vector<worker> workers;
    for (const int member : {1, 2, 3}) workers.push_back(start_at(member));
    for (auto& one : workers) {
      EXPECT_EQ(one.ask("load " + mode + " 2 " + std::to_string(rounds) + ' ' + names), "loading");
    }
    return workers;
  }
  std::unique_ptr<store::session> session_at(int member) const {
    return store::open_mysql(at({member}), {})->connect();
  }
  // What other members commit from here on waits at this member, until the valve is opened.
  void close_valve(int member) {
    const int other = member % 3 + 1;
    sql_session::open(at({other}))->run("CREATE TABLE valve (id int NOT NULL PRIMARY KEY)");
    until("the member has the table", [&] {
      return number_at(member,
                       "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND "
                       "table_name = 'valve'") == 1;
    });
    valve_ = std::make_unique<mysql_connection>(as_application(at({member})));
    valve_->run("LOCK TABLES valve READ");
    sql_session::open(at({other}))->run("ALTER TABLE valve COMMENT 'closed'");
    until("its applier waits", [&] {
      return number_at(member,
                       "SELECT count(*) FROM performance_schema.processlist "
                       "WHERE state LIKE 'Waiting for table%'") == 1;
    });
  }
  void open_valve() { valve_->run("UNLOCK TABLES"); }
  std::unique_ptr<mysql_connection> valve_;

  // What the ledger says once the session's member has applied everything that was committed at the others.
  static audit check(sql_session& session) {
    session.run("SET SESSION group_replication_consistency = 'BEFORE'");
    return ledger{session, "rowlock_"}.check();
  }
};

// The holder reads and writes the counter in separate statements, at its own member: what the previous holder has
// written must be there.
TEST_F(multi_primary_test, is_exclusive_and_follows_tickets_at_all_members) {
  const auto session = sql_session::open(at({1}));
  ledger book{*session, "rowlock_"};
  book.create({"counter"});
  until_everywhere("SELECT count(*) FROM rowlock_counter");
  constexpr int rounds = 8;
  for (auto& one : load("watching", rounds, "counter")) {
    auto counts = one.counts("join", 60s);
    SCOPED_TRACE(one.reported());
    EXPECT_EQ(counts["written"], 2 * rounds);
    EXPECT_EQ(counts["lost"], 0);
    EXPECT_EQ(counts["unreleased"], 0);
  }
  const auto found = check(*session);
  EXPECT_EQ(found.counted, 6 * rounds);
  EXPECT_EQ(found.logged, 6 * rounds);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.ticket_faults, 0);
}

TEST_F(multi_primary_test, loses_and_doubles_nothing_when_a_member_is_killed_under_load) {
  const auto session = sql_session::open(at({1}));
  ledger book{*session, "rowlock_"};
  book.create({"one", "two"});
  until_everywhere("SELECT count(*) = 2 FROM rowlock_counter");
  auto workers = load("guarded", 0, "one two");
  const auto logged = [&] { return number_at(1, "SELECT count(*) FROM rowlock_log"); };
  until("grants are made", [&] { return logged() > 20; });
  kill(3);
  const auto before = logged();
  try {
    until(
        "grants go on", [&] { return logged() > before + 20; }, 60s);
  } catch (const std::runtime_error&) {
    // A member that has been expelled meanwhile leaves two, of which the dead one counts: no majority, for ever.
    for (const int member : {1, 2})
      ADD_FAILURE() << "member " << member << " sees: " << members_seen_by(member);
    throw;
  }
  workers.back().kill();
  workers.pop_back();
  std::int64_t written = 0;
  for (auto& one : workers) {
    auto counts = one.counts("halt", 60s);
    EXPECT_EQ(counts["unaware"], 0) << one.reported();
    EXPECT_EQ(counts["wrong"], 0) << one.reported();
    written += counts["written"];
  }
  const auto found = check(*session);
  EXPECT_GE(found.logged, written) << "a confirmed write is missing";
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
}

TEST_F(multi_primary_test, raises_no_epoch_from_member_to_member) {
  std::int64_t token = 0;
  std::int64_t epoch = 0;
  for (const int member : {1, 2, 3, 1, 3, 2}) {
    auto one = start_at(member);
    const auto now = one.acquire("a").token;
    EXPECT_GT(now, token);
    token = now;
    EXPECT_EQ(one.ask("release"), "released");
    const auto seen = number_at(member, "SELECT epoch_s FROM rowlock_meta");
    if (epoch != 0) {
      EXPECT_EQ(seen, epoch);
    }
    epoch = seen;
  }
}

TEST_F(multi_primary_test, is_known_to_the_doctor) {
  const auto codes = [&] {
    std::vector<std::string> found;
    for (const auto& one : diagnose(url())) found.push_back(one.code);
    return found;
  };
  EXPECT_THAT(codes(), testing::IsSupersetOf({"several-primaries", "cluster-skew"}));
  admin{connect(url())}.set_skew(2s);
  EXPECT_THAT(codes(), testing::Contains("several-primaries"));
  EXPECT_THAT(codes(), testing::Not(testing::Contains("cluster-skew")));
}

// The client's connections go to the members in turn, as behind a balancer.
TEST_F(multi_primary_test, lets_a_client_at_three_members_lose_no_permit) {
  std::atomic<int> next{0};
  options settings;
  settings.connections = 4;
  const client db = connect([&] { return at({1 + next++ % 3}); }, settings);
  counting_semaphore gpus{db, "gpu", 4};
  for (int round = 0; round < 20; ++round) {
    std::vector<hold> holds;
    for (int i = 0; i < 4; ++i) {
      auto granted = gpus.try_acquire_for(10s);
      ASSERT_TRUE(granted) << "a permit was lost by round " << round;
      holds.push_back(std::move(granted));
    }
    for (auto& one : holds) EXPECT_NE(one.release(), release_result::lost) << round;
  }
  EXPECT_GE(next.load(), 3) << "the connections are not at three members";
}

// A guarded transaction at one member races against a client that takes the lock away at another.
TEST_F(multi_primary_test, commits_no_guarded_write_after_the_next_holder_has_looked) {
  sql_session::open(at({1}))->run(
      "CREATE TABLE work (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, token bigint NOT NULL);"
      "CREATE TABLE seen (token bigint NOT NULL PRIMARY KEY, before_it bigint NOT NULL)");
  until("the tables are there", [&] {
    return number_at(2,
                     "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND "
                     "table_name IN ('work', 'seen')") == 2;
  });
  options slow;
  slow.ttl = 1h;  // the client must not learn of its loss from a renewal
  const client here = connect(at({1}), slow);
  const client there = connect(at({2}), slow);
  const auto look = sql_session::open(at({1}));
  look->run("SET SESSION group_replication_consistency = 'BEFORE'");
  int committed = 0;
  int refused = 0;
  for (int round = 0; round < 15; ++round) {
    const hold old = mutex(here, "a").acquire();
    ASSERT_NE(old.guard_statement().write, "");
    const auto old_token = old.token().to_string();
    std::promise<void> taken;
    std::jthread guarded{[&] {
      mysql_connection app{as_application(at({1}))};
      try {
        app.run("START TRANSACTION");
        guard(app.handle(), old);
        app.run("INSERT INTO work (token) VALUES (" + old_token + ")");
        // One guarded transaction in three is certainly too late, one is in time, and the third one races.
        if (round % 3 == 1) taken.get_future().wait();
        app.run("COMMIT");
        ++committed;
      } catch (const std::exception&) {
        ++refused;
      }
    }};
    if (round % 3 == 0) guarded.join();
    std::this_thread::sleep_for(std::chrono::microseconds{500 * round});
    until("it is released", [&] {
      try {
        return admin{there}.release("a");
      } catch (const error& later) {
        return false;
      }
    });
    const hold next = mutex(there, "a").acquire();
    until("the next holder has looked", [&] {
      mysql_connection app{as_application(at({2}))};
      try {
        app.run("SET SESSION group_replication_consistency = 'BEFORE'");
        app.run("START TRANSACTION");
        guard(app.handle(), next);
        app.run("INSERT INTO seen SELECT " + next.token().to_string() +
                ", count(*) FROM work WHERE token = " + old_token);
        app.run("COMMIT");
        return true;
      } catch (const mysql_failure& conflict) {
        if (conflict.number() != 3101 && conflict.number() != 1213) throw;
        return false;  // the group has rolled it back
      }
    });
    taken.set_value();
    if (guarded.joinable()) guarded.join();
    EXPECT_EQ(look->number("SELECT count(*) FROM work WHERE token = " + old_token),
              look->number("SELECT before_it FROM seen WHERE token = " + next.token().to_string()))
        << "in round " << round;
  }
  EXPECT_GT(refused, 0) << "no commit was too late: there was no race";
  EXPECT_GT(committed, 0) << "no commit was in time: there was no race";
}

// Here only the guard's write helps: the member has yet to apply the loss, so no lock on the row keeps the transaction
// from its commit.
TEST_F(multi_primary_test, refuses_a_guarded_commit_that_is_ordered_after_a_loss) {
  sql_session::open(at({1}))->run("CREATE TABLE work (token bigint NOT NULL PRIMARY KEY)");
  options slow;
  slow.ttl = 1h;
  const client here = connect(at({1}), slow);
  const client there = connect(at({2}), slow);
  const hold old = mutex(here, "a").acquire();
  mysql_connection late{as_application(at({1}))};
  late.run("START TRANSACTION");
  guard(late.handle(), old);
  late.run("INSERT INTO work (token) VALUES (" + old.token().to_string() + ")");
  close_valve(1);
  until("it is released", [&] { return admin{there}.release("a"); });
  EXPECT_TRUE(mutex(there, "a").acquire().valid());
  try {
    late.run("COMMIT");
    ADD_FAILURE() << "it was written after the loss";
  } catch (const mysql_failure& refused) {
    EXPECT_EQ(refused.number(), 3101U) << refused.what();
  }
  open_valve();
  EXPECT_EQ(sql_session::open(at({1}))->number("SELECT count(*) FROM work"), 0);
}

// The answer "no such hold" counts only from a member that has caught up.
TEST_F(multi_primary_test, finds_a_hold_that_the_member_has_yet_to_apply) {
  const auto here = session_at(1);
  here->record_database_state();
  store::lease_record lease;
  lease.id = lease.client = model::lease_id::random();
  lease.ttl = 1min;
  here->create_lease(lease);
  here->create(std::vector<model::lock_definition>{{"a"}});
  const auto there = session_at(2);
  until("the second member has the lock",
        [&] { return number_at(2, "SELECT count(*) FROM rowlock_lock") == 1; });
  const auto hold = model::hold_id::random();
  close_valve(2);
  ASSERT_EQ(
      here->acquire(std::vector<store::acquire_item>{{.name = "a", .lease = lease.id, .hold = hold}}).size(),
      1U);
  auto found = in_background([&] {
    return there->find(std::vector<store::hold_query>{{"a", hold}}).at(0).state;
  });
  EXPECT_EQ(found.wait_for(200ms), std::future_status::timeout) << "it has answered before it could know";
  open_valve();
  EXPECT_EQ(found.get(), store::hold_status::where::held);
}

// The group answers error 3101 to the commit that lost.
TEST_F(multi_primary_test, sends_a_request_that_the_group_took_back_again) {
  const auto refused = [&](int member) {
    return std::stoll(
        ask(member,
            "SELECT SUM(count_conflicts_detected) FROM performance_schema.replication_group_member_stats"));
  };
  const auto before = refused(1);
  const client here = connect(at({1}));
  const client there = connect(at({2}));
  int rounds = 0;
  until(
      "two members have competed",
      [&] {
        auto other = in_background([&] { return mutex(there, "a").try_acquire_for(10s).token(); });
        const auto own = mutex(here, "a").try_acquire_for(10s).token();
        EXPECT_NE(own, other.get());
        ++rounds;
        return refused(1) > before;
      },
      60s);
  RecordProperty("rounds", rounds);
}

TEST_F(multi_primary_test, is_refused_to_a_user_who_cannot_see_who_is_a_member) {
  ask(1,
      "CREATE USER IF NOT EXISTS weak@'%' IDENTIFIED BY 'weak'; GRANT ALL PRIVILEGES ON *.* TO weak@'%'; "
      "REVOKE ALL PRIVILEGES ON *.* FROM weak@'%'; GRANT ALL ON " +
          url().substr(url().rfind('/') + 1) + ".* TO weak@'%'");
  auto weak = at({1});
  weak.replace(weak.find("://") + 3, weak.find('@') - weak.find("://") - 3, "weak:weak");
  try {
    std::ignore = connect(weak);
    ADD_FAILURE() << "connected";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::privilege);
    EXPECT_THAT(refused.what(), testing::HasSubstr("SELECT ON performance_schema.replication_group_members"));
  }
  ask(1,
      "GRANT SELECT ON performance_schema.replication_group_members TO weak@'%'; "
      "GRANT SELECT ON performance_schema.replication_group_member_stats TO weak@'%'");
  EXPECT_TRUE(mutex(connect(weak), "a").acquire().valid());
}

}  // namespace
}  // namespace rowlock::test
