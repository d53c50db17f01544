#include "client/core/pending_operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::acquire_operation;
using client_layer::acquire_ptr;
using client_layer::instant;
using client_layer::release_operation;
using client_layer::release_ptr;
using client_layer::task_operation;
using client_layer::task_ptr;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

acquire_ptr asks(const std::string& name, model::lock_kind kind = model::lock_kind::mutex) {
  auto made = std::make_shared<acquire_operation>();
  made->definition = {name, kind, 5};
  made->mode = kind == model::lock_kind::mutex ? model::lock_mode::exclusive : model::lock_mode::shared;
  return made;
}

release_ptr leaves(const std::string& name) {
  auto made = std::make_shared<release_operation>();
  made->name = name;
  made->mode = model::lock_mode::shared;
  return made;
}

// The release of an exclusive hold.
release_ptr frees(const std::string& name) {
  auto made = std::make_shared<release_operation>();
  made->name = name;
  made->was_held = true;
  return made;
}

// The same, and its caller goes on without waiting for it.
release_ptr goes_first(const std::string& name) {
  auto made = frees(name);
  made->goes_first = true;
  return made;
}

release_ptr withdraws(const std::string& name, model::lock_kind kind = model::lock_kind::mutex) {
  auto made = std::make_shared<release_operation>();
  made->name = name;
  made->kind = kind;
  return made;
}

class pending_operations_test : public testing::Test {
 protected:
  client_layer::batch acquires() {
    client_layer::batch formed;
    pending.take_acquires(formed);
    return formed;
  }
  client_layer::batch releases() {
    client_layer::batch formed;
    pending.take_releases(formed);
    return formed;
  }

  client_layer::pending_operations pending;
  const instant start{};
};

TEST_F(pending_operations_test, a_name_is_in_one_batch_until_that_is_finished) {
  const auto first = asks("a");
  const auto second = asks("a");
  pending.add(first);
  pending.add(second);
  const auto taken = acquires();
  pending.begin();
  EXPECT_THAT(taken.acquires, ElementsAre(first));
  EXPECT_TRUE(acquires().empty());
  pending.finish(taken);
  EXPECT_THAT(acquires().acquires, ElementsAre(second));
}

TEST_F(pending_operations_test, a_release_and_an_acquire_of_a_name_are_not_in_one_batch) {
  pending.add(leaves("a"));
  pending.add(asks("a"));
  client_layer::batch formed;
  pending.take_releases(formed);
  pending.take_acquires(formed);
  EXPECT_THAT(formed.releases, SizeIs(1));
  EXPECT_THAT(formed.acquires, IsEmpty());
}

TEST_F(pending_operations_test, an_acquire_waits_until_a_release_that_goes_first_has_been_sent) {
  const auto earlier = asks("a");
  const auto later = asks("a");
  const auto other = asks("b");
  pending.add(earlier);
  pending.add(goes_first("a"));
  pending.add(later);
  pending.add(other);
  const auto beside = acquires();
  EXPECT_THAT(beside.acquires, ElementsAre(other));
  pending.begin();
  auto sent = releases();
  pending.begin();
  EXPECT_THAT(acquires().acquires, IsEmpty()) << "the release is under way";
  pending.put_back(sent);
  pending.finish(sent);
  EXPECT_THAT(acquires().acquires, IsEmpty()) << "the release waits again";
  sent = releases();
  pending.begin();
  pending.add(goes_first("a"));
  pending.finish(sent);
  EXPECT_THAT(acquires().acquires, IsEmpty()) << "there is another one";
  sent = releases();
  pending.begin();
  pending.finish(sent);
  const auto first = acquires();
  EXPECT_THAT(first.acquires, ElementsAre(earlier));
  pending.begin();
  pending.finish(first);
  EXPECT_THAT(acquires().acquires, ElementsAre(later));
}

TEST_F(pending_operations_test, an_acquire_passes_a_release_that_goes_first_while_that_is_delayed) {
  pending.delay(goes_first("a"), start + 1s);
  const auto taken = asks("a");
  pending.add(taken);
  EXPECT_FALSE(pending.is_released_first("a"));
  EXPECT_THAT(acquires().acquires, ElementsAre(taken)) << "the release may be delayed for long";
}

TEST_F(pending_operations_test, sharers_of_a_name_join_up_to_64_and_only_in_order) {
  for (int i = 0; i < 70; ++i) pending.add(asks("a", model::lock_kind::shared_mutex));
  const auto formed = acquires();
  EXPECT_THAT(formed.acquires, SizeIs(64));
  EXPECT_THAT(formed.joined, ElementsAre("a"));
  EXPECT_THAT(formed.names, ElementsAre("a"));

  pending.add(asks("b", model::lock_kind::shared_mutex));
  pending.add(asks("b"));
  pending.add(asks("b", model::lock_kind::shared_mutex));
  EXPECT_THAT(acquires().acquires, SizeIs(1)) << "nobody passes a request that cannot join";
}

TEST_F(pending_operations_test, a_batch_has_256_requests_at_most) {
  for (int i = 0; i < 300; ++i) pending.add(asks(std::to_string(i)));
  EXPECT_THAT(acquires().acquires, SizeIs(256));
  EXPECT_THAT(acquires().acquires, SizeIs(44));
}

TEST_F(pending_operations_test, a_request_to_be_sent_alone_is_alone_in_its_batch) {
  const auto alone = asks("b");
  alone->retry.set_apart();
  pending.add(asks("a"));
  pending.add(alone);
  pending.add(asks("c"));
  EXPECT_THAT(acquires().acquires, SizeIs(2)) << "a and c";
  const auto last = acquires();
  EXPECT_THAT(last.acquires, ElementsAre(alone));
  EXPECT_TRUE(last.alone);
}

TEST_F(pending_operations_test, what_is_delayed_is_added_when_it_is_due) {
  pending.delay(asks("a"), start + 2s);
  pending.delay(leaves("b"), start + 1s);
  pending.delay(std::make_shared<task_operation>(), start + 3s);
  EXPECT_EQ(pending.next_delayed_release(), start + 1s);
  EXPECT_EQ(pending.next_delayed_acquire(), start + 2s);
  EXPECT_FALSE(pending.add_delayed_releases(start));
  EXPECT_TRUE(pending.add_delayed_releases(start + 1s));
  EXPECT_TRUE(pending.has_releases() && !pending.has_acquires());
  EXPECT_FALSE(pending.add_delayed_acquires(start + 1s));
  EXPECT_TRUE(pending.add_delayed_acquires(start + 2s));
  EXPECT_TRUE(pending.has_acquires() && !pending.has_background());
  EXPECT_TRUE(pending.add_delayed_acquires(start + 3s));
  EXPECT_TRUE(pending.has_background());
  EXPECT_EQ(pending.next_delayed_acquire(), instant::max());
  EXPECT_EQ(pending.next_delayed_release(), instant::max());
}

TEST_F(pending_operations_test, the_release_of_a_hold_goes_before_what_only_tidies_up) {
  const auto withdrawal = withdraws("a");
  const auto first = frees("a");
  const auto second = frees("a");
  for (const auto& one : {withdrawal, first, second}) pending.add(one);
  for (const auto& one : {first, second, withdrawal}) {
    const auto taken = releases();
    EXPECT_THAT(taken.releases, ElementsAre(one));
    pending.begin();
    pending.finish(taken);
  }
}

TEST_F(pending_operations_test, withdrawals_of_a_name_join) {
  for (int i = 0; i < 70; ++i) pending.add(withdraws("a"));
  const auto taken = releases();
  EXPECT_THAT(taken.releases, SizeIs(64));
  EXPECT_THAT(taken.joined, ElementsAre("a"));
  const auto barrier = withdraws("b", model::lock_kind::barrier);
  pending.add(barrier);
  pending.add(withdraws("b", model::lock_kind::barrier));
  EXPECT_THAT(releases().releases, ElementsAre(barrier)) << "the barrier must know whether it was a member";
}

TEST_F(pending_operations_test, what_waits_for_a_reserved_name_stands_in_nobodys_way) {
  client_layer::batch other;
  ASSERT_TRUE(pending.reserve("a", other));
  for (int i = 0; i < 300; ++i) pending.add(asks("a"));
  const auto free = asks("b");
  pending.add(free);
  EXPECT_THAT(acquires().acquires, ElementsAre(free));
  EXPECT_TRUE(pending.has_acquires());
  pending.begin();
  pending.finish(other);
  EXPECT_THAT(acquires().acquires, SizeIs(1));
}

TEST_F(pending_operations_test, one_background_sweep_of_a_name_waits_at_a_time) {
  pending.add(client_layer::sweep_of("a"));
  pending.add(client_layer::sweep_of("a"));
  EXPECT_FALSE(pending.delay(client_layer::sweep_of("a"), start));
  EXPECT_EQ(pending.next_delayed_release(), instant::max());
  const auto taken = releases();
  EXPECT_THAT(taken.releases, SizeIs(1));
  pending.begin();
  pending.finish(taken);
  pending.add(client_layer::sweep_of("a"));
  EXPECT_THAT(releases().releases, SizeIs(1)) << "one that comes later may find more";
}

TEST_F(pending_operations_test, a_sweep_after_a_commit_hastens_the_one_that_waits) {
  EXPECT_TRUE(pending.delay(client_layer::sweep_of("a"), start + 5s));
  EXPECT_FALSE(pending.delay(client_layer::sweep_after_commit("a"), start + 6s));
  EXPECT_TRUE(pending.delay(client_layer::sweep_after_commit("a"), start + 2ms))
      << "a worker must be woken for it";
  EXPECT_EQ(pending.next_delayed_release(), start + 2ms);
  pending.add(client_layer::sweep_after_commit("a"));
  EXPECT_TRUE(pending.add_delayed_releases(start));
  EXPECT_THAT(releases().releases, SizeIs(1));
}

TEST_F(pending_operations_test, other_sweeps_of_a_locked_row_wait_with_the_first) {
  EXPECT_TRUE(pending.delay(client_layer::sweep_of("a"), start + 5s));
  EXPECT_FALSE(pending.delay(client_layer::sweep_of("a"), start + 2ms));
  pending.add(client_layer::sweep_of("a"));
  EXPECT_EQ(pending.next_delayed_release(), start + 5s);
}

// A batch has room for a part of the releases only.
TEST_F(pending_operations_test, an_acquire_does_not_join_a_batch_ahead_of_releases_that_go_first) {
  const auto gives_back = [](const std::string& name) {
    auto made = goes_first(name);
    made->mode = model::lock_mode::shared;
    return made;
  };
  for (int i = 0; i < 50; ++i) {
    for (const auto* name : {"a", "b", "c", "d"}) pending.add(gives_back(name));
  }
  for (int i = 0; i < 100; ++i) pending.add(gives_back("e"));
  pending.add(asks("e", model::lock_kind::semaphore));
  client_layer::batch formed;
  pending.take_releases(formed);
  pending.take_acquires(formed);
  EXPECT_THAT(formed.releases, SizeIs(256));
  EXPECT_THAT(formed.acquires, IsEmpty());
}

TEST_F(pending_operations_test, a_batch_has_one_task_and_one_background_task) {
  for (int i = 0; i < 2; ++i) {
    pending.delay(std::make_shared<task_operation>(), start);
    pending.add(std::make_shared<task_operation>());
  }
  pending.add_delayed_acquires(start);
  client_layer::batch formed;
  pending.take_background(formed);
  EXPECT_THAT(formed.tasks, SizeIs(1));
  pending.take_task(formed);
  EXPECT_THAT(formed.tasks, SizeIs(2));
  EXPECT_TRUE(pending.has_background() && pending.has_tasks());
}

TEST_F(pending_operations_test, tasks_that_edit_different_locks_come_in_one_batch) {
  const auto editing = [](const std::string& name) {
    auto made = std::make_shared<task_operation>();
    made->edits = name;
    return made;
  };
  const auto a = editing("a");
  const auto again = editing("a");
  const auto other = std::make_shared<task_operation>();
  const auto b = editing("b");
  for (const auto& one : {a, again, other, b}) pending.add(one);
  client_layer::batch formed;
  pending.take_task(formed);
  EXPECT_THAT(formed.tasks, ElementsAre(a, b));
  for (const auto& next : {again, other}) {
    formed = {};
    pending.take_task(formed);
    EXPECT_THAT(formed.tasks, ElementsAre(next)) << "in the order in which they came";
  }
  EXPECT_FALSE(pending.has_tasks());
}

TEST_F(pending_operations_test, a_batch_has_one_edit_for_its_tasks) {
  const auto editing = [](const std::string& name, bool alone) {
    auto made = std::make_shared<task_operation>();
    made->edits = name;
    made->alone = alone;
    return made;
  };
  const auto taken = [&](bool background_first) {
    client_layer::batch formed;
    if (background_first) pending.take_background(formed);
    pending.take_task(formed);
    return formed.tasks;
  };
  const auto in_background = editing("a", false);
  const auto same_lock = editing("a", false);
  const auto alone = editing("b", true);
  const auto c = editing("c", false);
  pending.delay(in_background, start);
  pending.add_delayed_acquires(start);
  for (const auto& one : {same_lock, alone, c}) pending.add(one);
  EXPECT_THAT(taken(true), ElementsAre(in_background)) << "the first task is about the same lock";
  EXPECT_THAT(taken(false), ElementsAre(same_lock, c));
  EXPECT_THAT(taken(false), ElementsAre(alone));
}

TEST_F(pending_operations_test, a_batch_that_is_put_back_comes_first) {
  const auto first = asks("a");
  const auto second = asks("b");
  pending.add(first);
  auto taken = acquires();
  pending.begin();
  pending.add(second);
  pending.put_back(taken);
  pending.finish(taken);
  EXPECT_THAT(acquires().acquires, ElementsAre(first, second));
}

TEST_F(pending_operations_test, is_idle_when_only_acquires_are_left) {
  pending.add(asks("a"));
  EXPECT_TRUE(pending.is_idle());
  const auto taken = acquires();
  pending.begin();
  EXPECT_FALSE(pending.is_idle()) << "a batch is under way";
  pending.finish(taken);
  pending.delay(leaves("a"), start);
  EXPECT_FALSE(pending.is_idle()) << "a release is delayed";
}

TEST_F(pending_operations_test, reserves_a_name_for_a_request_that_was_never_added) {
  client_layer::batch inline_batch;
  ASSERT_TRUE(pending.reserve("a", inline_batch));
  pending.begin();
  client_layer::batch other;
  EXPECT_FALSE(pending.reserve("a", other));
  EXPECT_TRUE(other.names.empty());
  pending.finish(inline_batch);
  EXPECT_TRUE(pending.reserve("a", other));
}

TEST_F(pending_operations_test, removes_acquires_that_do_not_wait_or_all) {
  const auto waits = std::make_shared<acquire_operation>(model::lock_request{{"a"}}, true);
  const auto tries = asks("b");
  const auto later = asks("c");
  pending.add(waits);
  pending.add(tries);
  pending.delay(later, start);
  pending.delay(leaves("d"), start + 1s);
  const auto failure = std::make_exception_ptr(error(errc::unreachable, "gone"));
  EXPECT_THAT(pending.remove_acquires(failure, false), ElementsAre(tries, later));
  EXPECT_EQ(pending.next_delayed_release(), start + 1s) << "the release stays";
  EXPECT_THAT(pending.remove_acquires(failure, true), ElementsAre(waits));
}

TEST_F(pending_operations_test, drops_what_is_delayed_and_tells_of_the_releases) {
  const auto release = leaves("a");
  pending.delay(asks("b"), start);
  pending.delay(release, start);
  pending.delay(std::make_shared<task_operation>(), start);
  EXPECT_THAT(pending.remove_background(), SizeIs(1));
  EXPECT_THAT(pending.drop_delayed(), ElementsAre(release));
  EXPECT_TRUE(pending.is_idle());
}

}  // namespace
}  // namespace rowlock::test
