// A MySQL primary and its replica with GTIDs, in one URL (scripts/with-mysql-replica).
#include "pair_test.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>

namespace rowlock::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class mysql_replica_test : public pair_test {
 protected:
  mysql_replica_test() : pair_test{"scripts/with-mysql-replica", "ROWLOCK_TEST_MYSQL_REPLICA"} {}

  void make_with_marker(const std::string& mode, const std::string& engine) {
    make(mode);
    sql_session::open(url())->run("ALTER TABLE rowlock_marker ENGINE = " + engine);
  }
  std::int64_t follower_has(const std::string& sql) const {
    return sql_session::open(url_of({"follower"}))->number(sql);
  }
  void until_follower_has(std::int64_t token) const {
    until("the replica has the grant",
          [&] { return follower_has("SELECT COALESCE(MAX(token), 0) FROM rowlock_lock") == token; });
  }
  static std::vector<std::string> codes(const std::string& url) {
    std::vector<std::string> found;
    for (const auto& one : diagnose(url)) found.push_back(one.code);
    return found;
  }
  // Restarts the replica, and reads the marker there, as the doctor or a client that only reads does.
  void restart_and_read_the_marker() {
    change("restart");
    follower_has("SELECT count(*) FROM rowlock_marker");
  }
};

TEST_F(mysql_replica_test, is_passed_over_wherever_the_url_names_it) {
  make("sync");
  expect_to_pass_over_the_follower();
}

TEST_F(mysql_replica_test, is_known_to_the_doctor) {
  make_with_marker("sync", "MEMORY");
  EXPECT_THAT(codes(url_of({"follower"})), Contains("replica"));
  EXPECT_THAT(codes(url()), Contains("marker-in-memory"));
  EXPECT_THAT(codes(url()), Not(Contains("lossy-failover")));
  make_with_marker("async", "InnoDB");
  EXPECT_THAT(codes(url()), Contains("lossy-failover"));
  EXPECT_THAT(codes(url()), Not(Contains("marker-in-memory")));
  until("the replica has the table", [&] {
    return follower_has(
               "SELECT count(*) FROM information_schema.tables WHERE table_name = 'rowlock_marker' "
               "AND engine = 'InnoDB'") == 1;
  });
  EXPECT_THAT(codes(url_of({"follower"})), Not(Contains("marker-in-memory")));
}

TEST_F(mysql_replica_test, that_is_semi_synchronous_takes_over_and_nothing_is_lost) {
  make_with_marker("sync", "InnoDB");
  expect_to_lose_nothing();
}

// Clients notice the promotion by the server's identity: the marker outlives it.
TEST_F(mysql_replica_test, that_is_asynchronous_takes_over_and_holders_learn_what_is_lost) {
  make_with_marker("async", "InnoDB");
  expect_holders_to_learn_what_is_lost();
}

TEST_F(mysql_replica_test, that_restarts_writes_nothing_of_its_own_and_the_former_primary_follows_it) {
  make_with_marker("sync", "InnoDB");
  client db = connect(url());
  until_follower_has(mutex{db, "nightly"}.acquire().token().value());
  restart_and_read_the_marker();
  EXPECT_NO_THROW(change("own-transactions"));
  // The primary waits for the replica again.
  until_follower_has(mutex{db, "nightly"}.acquire().token().value());
  db.close();
  fail_over();
  const client after = connect(url());
  const auto token = mutex{after, "nightly"}.acquire().token().value();
  EXPECT_NO_THROW(change("rejoin"));
  EXPECT_EQ(sql_session::open(url_of({"primary"}))->number("SELECT MAX(token) FROM rowlock_lock"), token);
  EXPECT_THAT(codes(url_of({"primary"})), Contains("replica"));
}

TEST_F(mysql_replica_test, that_restarts_with_a_memory_marker_has_a_transaction_of_its_own) {
  make_with_marker("sync", "MEMORY");
  until_follower_has(mutex{connect(url()), "nightly"}.acquire().token().value());
  EXPECT_NO_THROW(change("own-transactions"));
  restart_and_read_the_marker();
  EXPECT_THROW(change("own-transactions"), std::runtime_error)
      << "this server writes nothing any more: change docs/operations.md";
}

TEST_F(mysql_replica_test, is_found_by_a_client_whose_primary_becomes_read_only) {
  make_with_marker("sync", "InnoDB");
  const client db = connect(url());
  mutex nightly{db, "nightly"};
  const auto held = nightly.acquire();
  change("read-only on");
  try {
    std::ignore = mutex{db, "other"}.try_acquire_for(1s);
    ADD_FAILURE() << "a server that is read-only granted a lock";
  } catch (const error& refused) {
    EXPECT_TRUE(refused.code() == errc::read_only || refused.code() == errc::unreachable) << refused.what();
  }
  change("read-only off");
  EXPECT_TRUE((mutex{db, "other"}.acquire().valid()));
  EXPECT_TRUE(held.valid());

  change("read-only on");
  change("promote");
  EXPECT_TRUE((mutex{db, "other"}.acquire().valid()));
  EXPECT_EQ(held.token().value(), follower_has("SELECT token FROM rowlock_lock WHERE name = 'nightly'"));
  EXPECT_TRUE(held.valid());
}

// The primary is offline like a member that its group has expelled.
TEST_F(mysql_replica_test, is_found_by_a_client_whose_primary_is_offline) {
  make_with_marker("sync", "InnoDB");
  const client db = connect(url());
  const auto held = mutex{db, "nightly"}.acquire();
  change("offline on");
  change("promote");
  EXPECT_TRUE((mutex{db, "other"}.acquire().valid()));
  EXPECT_TRUE(held.valid());
  EXPECT_TRUE((mutex{connect(url()), "another"}.acquire().valid()))
      << "a new client goes on to the next host";
}

TEST_F(mysql_replica_test, that_becomes_a_clone_or_a_dump_issues_higher_tokens) {
  for (const std::string how : {"clone", "dump"}) {
    make_with_marker("async", "InnoDB");
    fencing_token latest;
    {
      const client db = connect(url_of({"primary"}));
      for (int i = 0; i < 3; ++i) latest = mutex{db, "nightly"}.acquire().token();
      std::ignore = mutex{db, "kept"}.acquire();
    }
    change(how);
    change("kill");
    const client db = connect(url_of({"follower"}));
    EXPECT_GT(mutex(db, "nightly").acquire().token(), latest) << how;
    EXPECT_GT(mutex(db, "new").acquire().token(), latest) << how;
  }
}

}  // namespace
}  // namespace rowlock::test
