#include "cli/cli_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

class upkeep_test : public cli_test {
 protected:
  long long token_of(const std::string& name) {
    return json_of({"show", name}).at(0).at("token").get<long long>();
  }
};

TEST_P(upkeep_test, release_needs_force) {
  auto holder = hold("job");
  const auto refused = rowlock({"release", "job"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 1);
}

TEST_P(upkeep_test, forced_release_raises_the_token_and_lets_the_next_in) {
  auto holder = hold("job");
  const auto before = token_of("job");
  auto waiter = wait_for("job");
  EXPECT_EQ(json_of({"release", "job", "--force"}).at(0).at("released"), true);
  EXPECT_EQ(waiter->wait().out, "mine\n");
  EXPECT_GT(token_of("job"), before);
  EXPECT_EQ(holder->wait().exit_code, 76);
}

TEST_P(upkeep_test, releasing_what_nobody_holds_is_no_error) {
  rowlock({"run", "job", "--", "true"});
  const auto result = rowlock({"release", "job", "--force"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("nobody held"));
  EXPECT_EQ(json_of({"release", "job", "--force"}).at(0).at("released"), false);
}

TEST_P(upkeep_test, sweep_frees_what_the_dead_held) {
  auto holder = hold("job");
  const auto lease = store->open()->connect()->show("job")->holders.at(0).lease.id;
  holder->send(SIGKILL);
  holder->wait();
  store->expire(lease);
  const auto done = json_of({"sweep"}).at(0);
  EXPECT_EQ(done.at("leases"), 1);
  EXPECT_EQ(done.at("locks"), 1);
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 0);
  EXPECT_EQ(rowlock({"sweep"}).out, "killed 0 expired leases, cleaned 0 locks\n");
}

TEST_P(upkeep_test, gc_deletes_the_unused_and_tokens_go_on) {
  auto holder = hold("held");
  rowlock({"run", "old", "--", "true"});
  rowlock({"run", "new", "--", "true"});
  const auto before = token_of("old");
  store->age("old", std::chrono::hours{48});
  store->age("held", std::chrono::hours{48});
  EXPECT_EQ(json_of({"gc", "--idle", "1d"}).at(0).at("deleted"), 1);
  EXPECT_EQ(rowlock({"show", "old"}).exit_code, 1);
  EXPECT_EQ(rowlock({"show", "new"}).exit_code, 0);
  rowlock({"run", "old", "--", "true"});
  EXPECT_GT(token_of("old"), before);
}

TEST_P(upkeep_test, gc_needs_an_age) {
  EXPECT_EQ(rowlock({"gc"}).exit_code, 64);
  EXPECT_EQ(rowlock({"gc", "--idle", "30"}).exit_code, 64);
}

TEST_P(upkeep_test, epoch_rises_above_a_token) {
  rowlock({"run", "job", "--", "true"});
  const auto before = json_of({"epoch"}).at(0).at("epoch").get<long long>();
  EXPECT_EQ(json_of({"epoch", "show"}).at(0).at("epoch"), before);
  EXPECT_EQ(rowlock({"epoch"}).out, std::to_string(before) + "\n");

  const auto above = token_of("job") + (1LL << 40);
  const auto after =
      json_of({"epoch", "raise", "--above", std::to_string(above)}).at(0).at("epoch").get<long long>();
  EXPECT_GT(after, before);
  rowlock({"run", "job", "--", "true"});
  EXPECT_GT(token_of("job"), above);
}

TEST_P(upkeep_test, epoch_refuses_what_is_no_token) {
  for (const std::string text : {"-1", "9007199254740992", "many", "99999999999999999999"}) {
    EXPECT_EQ(rowlock({"epoch", "raise", "--above", text}).exit_code, 64) << text;
  }
  const auto refused = rowlock({"epoch", "raise", "--above", "4503599627370496"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, testing::HasSubstr("--above 4503599627370496 is outside 0 to 2^52 - 1"));
}

ROWLOCK_FOR_EACH_SQL_STORE(upkeep_test);

}  // namespace rowlock::test
