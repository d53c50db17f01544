#ifdef ROWLOCK_TEST_MYSQL

// How a connect answers to a server's settings.
#include "store/mysql_test.hpp"
#include "store/open.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class mysql_connect_test : public mysql_test {
 protected:
  // Changes a setting of the whole server, and restores it at the end.
  class changed {
   public:
    changed(mysql_connection& on, const std::string& variable, const std::string& value)
        : on_{on}, variable_{variable}, before_{on.value("SELECT @@GLOBAL." + variable)} {
      on_.run("SET GLOBAL " + variable_ + " = " + value);
    }
    ~changed() { on_.run("SET GLOBAL " + variable_ + " = " + before_); }
    changed(const changed&) = delete;
    changed& operator=(const changed&) = delete;

   private:
    mysql_connection& on_;
    std::string variable_;
    std::string before_;
  };
};

TEST_P(mysql_connect_test, of_a_sound_server_warns_of_nothing) {
  EXPECT_THAT(connect()->warning(), IsEmpty());
}

TEST_P(mysql_connect_test, refuses_a_server_that_is_read_only) {
  const changed replica{*side_, "read_only", "1"};
  try {
    connect();
    FAIL() << "a replica was taken for a primary";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only);
    EXPECT_THAT(refused.what(), HasSubstr("read_only is ON"));
    EXPECT_THAT(refused.what(), HasSubstr("connect to the primary"));
  }
}

// The tests have no such server here: a trigger refuses what a group refuses.
TEST_P(mysql_connect_test, says_what_to_do_about_a_marker_that_a_replication_group_refuses) {
  run(*side_,
      "CREATE TRIGGER @refuse BEFORE INSERT ON @marker FOR EACH ROW "
      "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 3098, "
      "MESSAGE_TEXT = 'The table does not comply with the requirements by an external plugin.'");
  try {
    connect()->record_database_state();
    FAIL() << "written";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::database);
    EXPECT_EQ(refused.database_code(), "3098");
    EXPECT_THAT(refused.what(), HasSubstr("_marker ENGINE = InnoDB"));
  }
}

TEST_P(mysql_connect_test, warns_of_commits_that_a_crash_would_lose) {
  const changed lazy{*side_, "innodb_flush_log_at_trx_commit", "2"};
  EXPECT_THAT(connect()->warning(), HasSubstr("innodb_flush_log_at_trx_commit is 2"));
}

TEST_P(mysql_connect_test, warns_of_packets_too_small_for_a_batch) {
  const changed small{*side_, "max_allowed_packet", "1048576"};
  EXPECT_THAT(connect()->warning(), HasSubstr("max_allowed_packet is 1048576"));
}

TEST_P(mysql_connect_test, the_longest_batch_fits_into_what_it_does_not_warn_of) {
  const changed just{*side_, "max_allowed_packet", "4194304"};
  const auto session = ready();
  EXPECT_THAT(session->warning(), IsEmpty());
  std::vector<store::acquire_item> acquires;
  std::vector<store::release_item> releases;
  std::vector<model::lock_definition> locks;
  for (int i = 0; i < 256; ++i) {
    auto name = std::to_string(1000 + i);
    name.resize(512, 'x');
    // The locks have no value in common, so that no value is sent only once.
    locks.push_back({name, model::lock_kind::semaphore, 1 + i});
    acquires.push_back({name, model::lock_kind::semaphore, 1 + i, lease_id::random(), hold_id::random()});
    releases.push_back({name, acquires.back().lease, acquires.back().hold});
  }
  session->create(locks);
  EXPECT_EQ(session->acquire(acquires).size(), acquires.size());
  EXPECT_EQ(session->release(releases, store::durability::asynchronous).size(), releases.size());
}

// All defaults of MariaDB 10.11 were compared with those of 11.8. Of those that differ, these change what a statement
// of ours means: innodb_snapshot_isolation, which is pinned below, and the character sets and collations (of the
// client, of the connection, and character_set_collations), which SET NAMES and collation_database decide. A further
// limit of temporary tables came with 11.5 (max_tmp_session_space_usage). The new cost model (optimizer_…_cost,
// optimizer_adjust_secondary_key_costs) and the three parts of optimizer_switch that are ON now
// (hash_join_cardinality, cset_narrowing, sargable_casefold) choose plans: a statement that must not scan forces its
// key. All else that differs is about files, logs, replication, statistics, vectors and the number of entries of a
// cache. sql_mode, old_mode, the isolation and the waits for locks have the same defaults.
TEST_P(mysql_connect_test, pins_the_settings_that_came_with_later_servers) {
  const auto has = [&](const std::string& variable) {
    return !side_->run("SHOW VARIABLES LIKE '" + variable + "'").empty();
  };
  const bool is_mariadb = side_->value("SELECT VERSION()").find("MariaDB") != std::string::npos;
  ASSERT_EQ(has("innodb_snapshot_isolation"), is_mariadb);
  run(*side_, "CREATE TABLE @seen (name VARCHAR(64), value VARCHAR(64))");
  for (const std::string variable : {"innodb_snapshot_isolation", "max_tmp_session_space_usage"}) {
    if (!has(variable)) continue;
    SCOPED_TRACE(variable);
    const changed global{*side_, variable, "1"};
    const auto session = connect();
    side_->run(put("CREATE TRIGGER @" + variable + " BEFORE INSERT ON @lock FOR EACH ROW INSERT INTO @seen") +
               " VALUES ('" + variable + "', @@" + variable + ")");
    create(*session, variable);
    EXPECT_EQ(value("SELECT value FROM @seen WHERE name = '" + variable + "'"), "0");
  }
}

// Nobody listens at the first two places of the URL.
TEST_P(mysql_connect_test, goes_on_to_the_next_place_of_the_url) {
  auto url = fixture_->url();
  const auto at = url.find('@') + 1;
  const auto living = url.substr(at, url.find('/', at) - at);
  EXPECT_NO_THROW(store::open(url.insert(at, "127.0.0.1:1,127.0.0.1:2,"), fixture_->options())->connect());
  url.replace(url.find(living), living.size(), "127.0.0.1:3");
  try {
    store::open(url, fixture_->options())->connect();
    FAIL() << "connected to nobody";
  } catch (const error& failure) {
    EXPECT_EQ(failure.code(), errc::unreachable);
  }
}

// If one of the places is a replica, no connection is made there.
TEST_P(mysql_connect_test, is_refused_by_the_last_place_that_is_read_only) {
  const changed replica{*side_, "read_only", "1"};
  auto url = fixture_->url();
  EXPECT_THROW(store::open(url.insert(url.find('@') + 1, "127.0.0.1:1,"), fixture_->options())->connect(),
               error);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_connect_test);

}  // namespace
}  // namespace rowlock::test

#endif
