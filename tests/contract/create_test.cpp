#include "contract/contract_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class create_test : public contract_test {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const auto& one : a->list()) result.push_back(one.row.name);
    return result;
  }
};

TEST_P(create_test, makes_a_free_lock) {
  a->create(std::vector<model::lock_definition>{{"a", model::lock_kind::mutex, 1}});
  const auto now = b->show("a").value();
  EXPECT_EQ(now.row.kind, model::lock_kind::mutex);
  EXPECT_EQ(now.row.capacity, 1);
  EXPECT_EQ(now.row.in_use, 0);
  EXPECT_FALSE(now.row.hold);
}

TEST_P(create_test, leaves_an_existing_lock_as_it_is) {
  const auto holder = held("a");
  queued("a");
  const auto before = view("a").row;
  create("a");
  const auto after = view("a").row;
  EXPECT_EQ(after.hold, holder.hold);
  EXPECT_EQ(after.token, before.token);
  EXPECT_EQ(after.next_ticket, before.next_ticket);
  EXPECT_TRUE(after.has_queue);
}

TEST_P(create_test, leaves_a_lock_of_another_capacity_as_it_is) {
  create("a");
  a->create(std::vector<model::lock_definition>{{"a", model::lock_kind::mutex, 5}});
  EXPECT_EQ(view("a").row.capacity, 1);
}

TEST_P(create_test, of_a_batch_makes_those_that_are_missing) {
  create("b");
  create({"a", "b", "c"});
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
}

TEST_P(create_test, of_none_is_nothing) {
  a->create({});
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_P(create_test, does_not_wait_for_a_locked_row) {
  ROWLOCK_NEEDS(row_locks);
  create("b");
  const auto rival = fixture().lock_row("b");
  create({"a", "b", "c"});
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
}

TEST_P(create_test, gives_tokens_of_the_present_epoch) {
  EXPECT_GE(next_token_of("a"), model::epoch_floor(a->read_database_state().epoch));
}

TEST_P(create_test, by_several_at_once_makes_one) {
  for (int round = 0; round < 10; ++round) {
    const std::vector<model::lock_definition> wanted{{"x" + std::to_string(round)},
                                                     {"y" + std::to_string(round)}};
    auto rival = in_background([&] { b->create(wanted); });
    a->create(wanted);
    rival.get();
  }
  EXPECT_EQ(names().size(), 20U);
}

ROWLOCK_FOR_EACH_STORE(create_test);

}  // namespace
}  // namespace rowlock::test
