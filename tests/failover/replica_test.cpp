// A MariaDB primary and its replica, in one URL (scripts/with-replica).
#include "pair_test.hpp"

#include <rowlock/rowlock.hpp>

namespace rowlock::test {
namespace {

class replica_test : public pair_test {
 protected:
  replica_test() : pair_test{"scripts/with-replica", "ROWLOCK_TEST_REPLICA"} {}
};

TEST_F(replica_test, is_passed_over_wherever_the_url_names_it) {
  make("sync");
  expect_to_pass_over_the_follower();
}

TEST_F(replica_test, that_is_semi_synchronous_takes_over_and_nothing_is_lost) {
  make("sync");
  expect_to_lose_nothing();
}

TEST_F(replica_test, that_is_asynchronous_takes_over_and_holders_learn_what_is_lost) {
  make("async");
  expect_holders_to_learn_what_is_lost();
}

// A MEMORY table is empty after a restart. The replica then writes that into its own log, where it conflicts with what
// follows from the primary. docs/operations.md says what to do.
TEST_F(replica_test, that_restarts_goes_on_if_the_marker_is_an_innodb_table) {
  make("async");
  sql_session::open(url())->run("ALTER TABLE rowlock_marker ENGINE = InnoDB");
  const client db = connect(url());
  const auto before = mutex{db, "nightly"}.acquire().token().value();
  const auto token = [&] {
    return sql_session::open(url_of({"follower"}))
        ->number("SELECT COALESCE(MAX(token), 0) FROM rowlock_lock");
  };
  until("the replica has the lock", [&] { return token() == before; });
  change("restart");
  EXPECT_EQ(sql_session::open(url_of({"follower"}))->number("SELECT count(*) FROM rowlock_marker"), 1);
  const auto after = mutex{db, "nightly"}.acquire().token().value();
  until("the replica has what followed", [&] { return token() == after; });
}

}  // namespace
}  // namespace rowlock::test
