#include "process_test.hpp"

namespace rowlock::test {

namespace {

class killed_waiter_test : public process_test {
 protected:
  // Starts a holder, and three waiters in this order.
  std::vector<worker> form_queue() {
    std::vector<worker> line;
    for (int i = 0; i < 4; ++i) line.push_back(start());
    line[0].acquire("nightly");
    for (std::size_t i = 1; i < line.size(); ++i) {
      line[i].tell("acquire nightly");
      until_queued(static_cast<std::int64_t>(i));
    }
    return line;
  }
};

// The killed waiter's lease may still live when the lock is handed over. Then the lock stays with it until the lease
// ends.
TEST_P(killed_waiter_test, at_the_head_is_skipped_within_its_ttl) {
  auto line = form_queue();
  line[1].kill();
  EXPECT_EQ(line[0].ask("release"), "released");
  expire_lease_of(line[1]);
  const auto second = line[2].grant(slack);
  EXPECT_EQ(queued(), 1);
  EXPECT_EQ(line[2].ask("release"), "released");
  EXPECT_GT(line[3].grant(slack).token, second.token);
  EXPECT_EQ(line[3].ask("release"), "released");
  EXPECT_EQ(queued(), 0);
}

TEST_P(killed_waiter_test, that_is_dead_when_its_turn_comes_costs_nobody_any_time) {
  auto line = form_queue();
  line[1].kill();
  expire_lease_of(line[1]);
  EXPECT_EQ(line[0].ask("release"), "released");
  line[2].grant(slack);
  EXPECT_EQ(line[2].ask("release"), "released");
  line[3].grant(slack);
  EXPECT_EQ(line[3].ask("release"), "released");
}

TEST_P(killed_waiter_test, in_the_middle_holds_up_only_those_behind_it) {
  auto line = form_queue();
  line[2].kill();
  EXPECT_EQ(line[0].ask("release"), "released");
  line[1].grant(slack);
  EXPECT_EQ(line[1].ask("release"), "released");
  expire_lease_of(line[2]);
  line[3].grant(slack);
}

ROWLOCK_FOR_EACH_SQL_STORE(killed_waiter_test);

}  // namespace

}  // namespace rowlock::test
