#include "client/call/joint_round.hpp"

#include "client/parts_test.hpp"

#include <memory>

namespace rowlock::test {
namespace {

using testing::ElementsAre;

class joint_round_test : public parts_test {
 protected:
  using round = client_layer::joint_round;

  joint_round_test() {
    begin();
    side->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
  }
  std::shared_ptr<round> asking(bool all) {
    auto made = std::make_shared<round>(round{*engine, engine->services().queue.lease(), {}, all});
    for (const auto* name : {"a", "b"}) {
      made->wishes.push_back(
          {model::lock_request{{name}}, made->lease->id(), model::hold_id::of_this_thread()});
    }
    return made;
  }
  void run(round& one) { one.run(*server->open()->connect()); }
  void forget(const round& one) {
    for (const auto& hold : one.holds) hold->begin_release();
  }
};

TEST_F(joint_round_test, takes_all_that_are_free) {
  const auto one = asking(true);
  run(*one);
  EXPECT_EQ(one->what_is_missing(), round::state::granted);
  ASSERT_EQ(one->holds.size(), 2U);
  for (const auto& hold : one->holds) EXPECT_EQ(hold->id(), holder_of(hold->name()));
  EXPECT_EQ(environment().count.acquired.load(), 2U);
  forget(*one);
}

TEST_F(joint_round_test, takes_what_is_free_with_one_statement_unless_it_is_recorded_or_contended) {
  std::vector<std::string> sent;
  server->on_call([&](store::memory_call& call) {
    if (call.at == store::memory_call::phase::before && call.verb != "connect") sent.emplace_back(call.verb);
  });
  const auto statements = [&] {
    const auto one = asking(true);
    sent.clear();
    run(*one);
    EXPECT_EQ(one->what_is_missing(), round::state::granted);
    const auto statements = sent;
    one->withdraw();
    for (const auto& left : submitted().releases)
      released_by_rival(left->name, {left->lease->id(), left->hold});
    return statements;
  };
  EXPECT_THAT(statements(), ElementsAre("acquire_all"));
  services().contended.add("b");
  EXPECT_THAT(statements(), ElementsAre("edit"));
  services().contended.remove("b");
  environment().recorded.use(1, {{"a", 100, std::chrono::hours{24}}});
  EXPECT_THAT(statements(), ElementsAre("edit"));
  environment().recorded.use(2, {});
  server->lock_row("b");
  const auto locked = asking(true);
  sent.clear();
  run(*locked);
  EXPECT_THAT(sent, ElementsAre("acquire_all", "edit"));
  EXPECT_EQ(locked->what_is_missing(), round::state::locked);
}

TEST_F(joint_round_test, takes_those_before_the_first_that_is_busy_or_none) {
  held_by_rival("b");
  const auto none = asking(true);
  run(*none);
  EXPECT_EQ(none->what_is_missing(), round::state::busy);
  EXPECT_TRUE(none->holds.empty());
  const auto some = asking(false);
  run(*some);
  EXPECT_EQ(some->what_is_missing(), round::state::busy);
  EXPECT_EQ(some->holds.size(), 1U);
  forget(*some);
}

TEST_F(joint_round_test, one_that_is_busy_counts_more_than_a_row_that_is_locked) {
  held_by_rival("b");
  server->lock_row("a");
  const auto one = asking(true);
  run(*one);
  EXPECT_EQ(one->what_is_missing(), round::state::busy);
}

TEST_F(joint_round_test, writes_the_histories_of_all) {
  environment().recorded.use(1, {{"*", 100, std::chrono::hours{24}}});
  const auto one = asking(true);
  run(*one);
  EXPECT_EQ(server->snapshot().history.size(), 2U);
  forget(*one);
}

TEST_F(joint_round_test, says_that_a_row_is_locked_or_that_a_lock_is_another_one) {
  server->lock_row("a");
  const auto locked = asking(true);
  run(*locked);
  EXPECT_EQ(locked->what_is_missing(), round::state::locked);
  server->unlock_row("a");
  server->delete_lock("b");
  side->create(std::vector<model::lock_definition>{{"b", model::lock_kind::semaphore, 3}});
  const auto other = asking(true);
  run(*other);
  EXPECT_EQ(code_of([&] { other->what_is_missing(); }), errc::mismatch);
}

TEST_F(joint_round_test, what_it_took_on_a_lease_that_ended_meanwhile_has_lapsed) {
  const auto one = asking(true);
  advance(40s);
  run(*one);
  EXPECT_TRUE(one->holds.empty());
  EXPECT_EQ(one->what_is_missing(), round::state::lapsed);
}

TEST_F(joint_round_test, finds_what_an_earlier_one_got) {
  const auto first = asking(true);
  faults->lose_answer("acquire_all");
  EXPECT_THROW(run(*first), error);
  queued_rival("b");
  auto look = round{*engine, first->lease, first->wishes, true, true};
  server->lock_row("a");
  server->show_commits_early();
  const auto made_durable = faults->count("make_durable");
  run(look);
  EXPECT_EQ(faults->count("make_durable"), made_durable + 1);
  ASSERT_EQ(look.holds.size(), 2U) << "also while a row is locked";
  EXPECT_FALSE(look.holds[0]->is_contended());
  EXPECT_TRUE(look.holds[1]->is_contended());
  server->unlock_row("a");
  forget(look);
}

TEST_F(joint_round_test, finds_an_exclusive_hold_with_the_whole_capacity) {
  const model::lock_definition catalog{"c", model::lock_kind::shared_mutex, model::shared_mutex_capacity};
  side->create(std::vector{catalog});
  const auto first = asking(true);
  first->wishes = {{model::lock_request{catalog}, first->lease->id(), model::hold_id::of_this_thread()}};
  faults->lose_answer("edit");
  EXPECT_THROW(run(*first), error);
  auto look = round{*engine, first->lease, first->wishes, true, true};
  run(look);
  ASSERT_EQ(look.holds.size(), 1U);
  EXPECT_EQ(look.holds[0]->weight(), model::shared_mutex_capacity);
  forget(look);
}

TEST_F(joint_round_test, withdraws_whatever_it_may_have) {
  const auto one = asking(true);
  run(*one);
  one->withdraw();
  EXPECT_TRUE(engine->holds().empty());
  for (const auto& hold : one->holds) EXPECT_FALSE(hold->is_valid());
  EXPECT_EQ(submitted().releases.size(), 2U);
}

TEST_F(joint_round_test, without_a_lease_it_sends_nothing) {
  round one{*engine, nullptr, {}, true};
  const auto statements = faults->count("edit") + faults->count("acquire_all");
  run(one);
  one.withdraw();
  EXPECT_EQ(faults->count("edit") + faults->count("acquire_all"), statements);
  EXPECT_TRUE(submitted().empty());
}

}  // namespace
}  // namespace rowlock::test
