#include "contract/contract_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class collect_test : public contract_test {
 protected:
  void idle(const std::string& name) {
    create(name);
    fixture().age(name, 48h);
  }
  std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const auto& one : a->list()) result.push_back(one.row.name);
    return result;
  }
};

TEST_P(collect_test, deletes_what_was_unused_for_long) {
  idle("a");
  create("b");
  EXPECT_EQ(a->collect(24h, 100), 1);
  EXPECT_THAT(names(), ElementsAre("b"));
}

TEST_P(collect_test, counts_from_the_latest_acquire) {
  idle("a");
  next_token_of("a");
  EXPECT_EQ(a->collect(24h, 100), 0);
}

TEST_P(collect_test, leaves_what_is_held) {
  held("a");
  fixture().age("a", 48h);
  EXPECT_EQ(a->collect(24h, 100), 0);
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_P(collect_test, leaves_what_is_waited_for) {
  const auto waiter = queued("a");
  fixture().age("a", 48h);
  EXPECT_EQ(a->collect(24h, 100), 0);
  EXPECT_EQ(find(waiter).state, where::queued);
}

TEST_P(collect_test, deletes_at_most_the_limit) {
  for (const auto* name : {"a", "b", "c", "d", "e"}) idle(name);
  EXPECT_EQ(a->collect(24h, 2), 2);
  EXPECT_EQ(names().size(), 3U);
  EXPECT_EQ(a->collect(24h, 100), 3);
  EXPECT_EQ(a->collect(24h, 100), 0);
}

TEST_P(collect_test, skips_rows_that_are_locked) {
  ROWLOCK_NEEDS(row_locks);
  for (const auto* name : {"a", "b", "c"}) idle(name);
  const auto rival = fixture().lock_row("b");
  EXPECT_EQ(a->collect(24h, 100), 2);
  EXPECT_THAT(names(), ElementsAre("b"));
}

TEST_P(collect_test, raises_the_floor_above_every_token_that_it_deletes) {
  // The epoch is above the clock, which would lift the tokens of new names as well.
  a->raise_epoch(model::epoch_floor(a->read_database_state().epoch + 1'000'000));
  for (int i = 0; i < 5; ++i) next_token_of("a");
  const auto high = next_token_of("a");
  const auto low = next_token_of("b");
  ASSERT_LT(low, high);
  EXPECT_EQ(a->collect(0ms, 100), 2);
  EXPECT_GT(next_token_of("a"), high);
  EXPECT_GT(next_token_of("b"), low);
  EXPECT_EQ(a->collect(0ms, 100), 2);
  EXPECT_GT(next_token_of("a"), high + 1) << "the floor rises again";
}

ROWLOCK_FOR_EACH_STORE(collect_test);

}  // namespace
}  // namespace rowlock::test
