#include "client/worker/hold_releaser.hpp"

#include "client/parts_test.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

using client_layer::hold_ptr;
using client_layer::worker_role;
using testing::ElementsAre;
using testing::IsEmpty;

class hold_releaser_test : public parts_test {
 protected:
  hold_releaser_test() { begin(); }

  hold_ptr held(const std::string& name, model::lock_kind kind = model::lock_kind::mutex,
                model::lock_mode mode = model::lock_mode::exclusive) {
    return held(model::lock_definition{name, kind}, mode);
  }
  hold_ptr held(const model::lock_definition& lock, model::lock_mode mode = model::lock_mode::exclusive) {
    auto hold = std::make_shared<client_layer::hold_state>(engine, time, lock, model::hold_id::random(), 1,
                                                           engine->services().queue.lease(), mode, 1);
    EXPECT_TRUE(engine->holds().add(hold, engine->holds().check_count()));
    return hold;
  }
  // A hold that stands in the database, too.
  hold_ptr stored(const std::string& name) {
    auto hold = held(name);
    grant(hold);
    return hold;
  }
  client_layer::release_ptr begun(const hold_ptr& hold) {
    EXPECT_TRUE(releaser.begin(*hold));
    auto sent = submitted().releases;
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? nullptr : sent.front();
  }

  client_layer::worker_list workers;
  client_layer::hold_releaser releaser{environment(), queue(), engine->holds(), workers,
                                       engine->keeper().slot()};
};

TEST_F(hold_releaser_test, a_release_ends_the_hold_here_before_it_is_sent) {
  const auto hold = held("a");
  const auto sent = begun(hold);
  EXPECT_TRUE(hold->is_released());
  EXPECT_FALSE(engine->holds().contains(hold->id()));
  EXPECT_EQ(sent->name, "a");
  EXPECT_EQ(sent->hold, hold->id());
  EXPECT_EQ(sent->lease, hold->lease());
  EXPECT_TRUE(sent->was_held);
  EXPECT_TRUE(queue().ids().contains(hold->id())) << "so nobody takes it for an orphan";
}

TEST_F(hold_releaser_test, a_hold_is_released_once) {
  const auto hold = held("a");
  EXPECT_TRUE(begun(hold));
  EXPECT_EQ(releaser.begin(*hold), nullptr);
  EXPECT_EQ(releaser.release(*hold), release_result::released) << "as the other call has";
  EXPECT_THAT(submitted().releases, IsEmpty());
}

TEST_F(hold_releaser_test, a_lost_hold_is_not_released) {
  const auto forced = held("a");
  forced->lose(loss::forced);
  EXPECT_EQ(releaser.release(*forced), release_result::lost);
  EXPECT_FALSE(engine->holds().contains(forced->id()));
  EXPECT_THAT(submitted().releases, IsEmpty());
}

TEST_F(hold_releaser_test, a_release_past_the_deadline_leaves_the_loss_to_the_watchdog) {
  const auto late = held("a");
  time.advance(30s);
  EXPECT_EQ(releaser.release(*late), release_result::lost);
  EXPECT_EQ(late->loss(), loss::expired);
  EXPECT_TRUE(engine->holds().contains(late->id()));
  EXPECT_THAT(submitted().releases, IsEmpty());
  engine->keeper().expire(time.now());  // as the watchdog does
  EXPECT_FALSE(engine->holds().contains(late->id()));
  EXPECT_EQ(environment().count.read().lost_expired, 1U) << "and other threads with its stop token are told";
}

TEST_F(hold_releaser_test, tries_the_fast_statement_where_the_locks_row_alone_decides) {
  const auto plain = begun(held("a"));
  EXPECT_TRUE(plain->fast);
  EXPECT_TRUE(plain->try_hand_over);
  const auto contended = held("b");
  contended->set_contended(true);
  const auto behind = begun(contended);
  EXPECT_FALSE(behind->fast) << "others wait";
  EXPECT_TRUE(behind->try_hand_over);
  const auto shared_hold = begun(held("c", model::lock_kind::semaphore, model::lock_mode::shared));
  EXPECT_TRUE(shared_hold->fast);
  EXPECT_FALSE(shared_hold->try_hand_over);
  EXPECT_FALSE(begun(held("d", model::lock_kind::barrier, model::lock_mode::shared))->fast);
}

TEST_F(hold_releaser_test, an_unfair_lock_is_freed_fast_and_handed_to_nobody) {
  const auto hold = held({"a", model::lock_kind::mutex, 1, false});
  hold->set_contended(true);
  const auto sent = begun(hold);
  EXPECT_TRUE(sent->fast);
  EXPECT_FALSE(sent->try_hand_over);
  EXPECT_FALSE(sent->fair);
}

TEST_F(hold_releaser_test, before_its_minimum_time_an_edit_decides) {
  const auto hold = held("a");
  hold->set_keep_until(time.now() + 1ns);
  const auto sent = begun(hold);
  EXPECT_FALSE(sent->fast);
  EXPECT_FALSE(sent->try_hand_over);
  EXPECT_EQ(sent->keep_until, time.now() + 1ns);
  const auto over = held("b");
  over->set_keep_until(time.now());
  EXPECT_TRUE(begun(over)->fast);
}

TEST_F(hold_releaser_test, an_explicit_ttl_may_be_fast_and_is_not_handed_over_without_an_edit) {
  const auto lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 5s, false, model::lease_id{});
  lease->confirm(time.now(), {});
  const auto hold = std::make_shared<client_layer::hold_state>(engine, time, model::lock_definition{"a"},
                                                               model::hold_id::random(), 1, lease,
                                                               model::lock_mode::exclusive, 1);
  const auto sent = begun(hold);
  EXPECT_TRUE(sent->fast);
  EXPECT_FALSE(sent->try_hand_over) << "that ends no lease";
}

TEST_F(hold_releaser_test, an_idle_worker_sends_it_in_the_callers_thread) {
  workers.push_back(std::make_unique<client_layer::statement_worker>(
      services(), worker_role::everything, [this] { return server->open()->connect(); }));
  workers.back()->slot().open();
  const auto hold = stored("a");
  EXPECT_EQ(releaser.release(*hold), release_result::released);
  EXPECT_TRUE(holder_of("a").is_nil());
  EXPECT_THAT(submitted().releases, IsEmpty());
}

TEST_F(hold_releaser_test, a_worker_that_only_acquires_sends_none) {
  workers.push_back(std::make_unique<client_layer::statement_worker>(
      services(), worker_role::acquires, [this] { return server->open()->connect(); }));
  workers.back()->slot().open();
  const auto hold = stored("a");
  auto released = in_background([&] { return releaser.release(*hold); });
  const auto sent = queue().take(worker_role::everything);
  ASSERT_EQ(sent.releases.size(), 1U);
  sent.releases.front()->answer->complete(release_result::pending);
  queue().finish(sent);
  EXPECT_EQ(released.get(), release_result::pending) << "whatever the answer is";
  EXPECT_EQ(holder_of("a"), hold->id());
}

TEST_F(hold_releaser_test, several_go_in_one_batch_and_each_gets_its_own_result) {
  const auto one = held("a");
  const auto lost = held("b");
  lost->lose(loss::forced);
  const auto other = held("c");
  auto released = in_background([&] {
    std::vector<client_layer::release_answer> room(3);
    std::vector<release_result> results(3);
    releaser.release(std::vector<hold_ptr>{one, lost, other}, room, results);
    return results;
  });
  const auto sent = queue().take(worker_role::everything);
  ASSERT_EQ(sent.releases.size(), 2U);
  sent.releases[1]->answer->complete(release_result::lost);
  sent.releases[0]->answer->complete(release_result::released);
  queue().finish(sent);
  EXPECT_THAT(released.get(),
              ElementsAre(release_result::released, release_result::lost, release_result::lost));
}

// A destructor of many holds must not wait for each of them separately.
TEST_F(hold_releaser_test, in_an_outage_all_callers_share_one_deadline) {
  engine->keeper().slot().close();
  const auto timeout = environment().settings.close_timeout;
  const auto first = releaser.begin(*held("a"));
  const auto second = releaser.begin(*held("b"));
  auto one = in_background([&, until = time.now() + timeout] { return releaser.await(first, until); });
  EXPECT_TRUE(eventually([&] {
    time.advance(100ms);
    return one.wait_for(0s) == std::future_status::ready;
  }));
  EXPECT_EQ(one.get(), release_result::unknown);
  const auto now = time.now();
  EXPECT_EQ(releaser.await(second, now + timeout), release_result::unknown);
  EXPECT_EQ(time.now(), now) << "no time is left for the second";
}

TEST_F(hold_releaser_test, an_answer_ends_the_shared_deadline) {
  engine->keeper().slot().close();
  const auto first = releaser.begin(*held("a"));
  const auto second = releaser.begin(*held("b"));
  for (const auto& one : submitted().releases) {
    if (one->name == "b") one->answer->complete(release_result::released);
  }
  EXPECT_EQ(releaser.await(first, time.now()), release_result::unknown);
  EXPECT_EQ(releaser.await(second, time.now() + 1s), release_result::released);
  time.advance(5s);
  const auto third = releaser.begin(*held("c"));
  const auto timeout = environment().settings.close_timeout;
  auto waits = in_background([&, until = time.now() + timeout] { return releaser.await(third, until); });
  time.advance(timeout - 1ms);
  third->complete(release_result::released);
  EXPECT_EQ(waits.get(), release_result::released);
}

TEST_F(hold_releaser_test, what_close_sends_is_durable_and_nobody_waits_for_it) {
  const auto one = held("a");
  ASSERT_TRUE(one->lose(loss::closed));
  const auto release = releaser.closing_release(*one);
  EXPECT_EQ(release->how, store::durability::durable);
  EXPECT_EQ(release->answer, nullptr);
  EXPECT_EQ(release->hold, one->id());
  EXPECT_TRUE(queue().ids().contains(one->id())) << "before the hold leaves the registry";
}

}  // namespace
}  // namespace rowlock::test
