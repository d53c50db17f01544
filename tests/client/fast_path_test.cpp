#include "client/worker/fast_path.hpp"

#include "client/parts_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class fast_path_test : public parts_test {
 protected:
  fast_path_test() {
    begin();
    for (const auto* name : {"a", "b", "c"}) side->create(std::vector<model::lock_definition>{{name}});
  }
  void acquire(client_layer::batch& work) { fast.acquire_or_enqueue(work); }
  // A hold that the fast path has acquired.
  client_layer::hold_ptr held(const std::string& name) {
    auto work = batch_of(asks(name));
    const auto asked = work.acquires.front();
    acquire(work);
    return hold_of(asked);
  }
  client_layer::acquire_ptr reads(const std::string& name) {
    auto made = asks_to_share(name, model::shared_mutex_capacity);
    made->definition.kind = model::lock_kind::shared_mutex;
    return made;
  }
  int statements() const {
    int sum = 0;
    for (const auto* verb : {"acquire", "enqueue", "release", "hand_over", "find", "edit", "send_wakeups"})
      sum += faults->count(verb);
    return sum;
  }

  client_layer::fast_path fast{services(), slot};
};

TEST_F(fast_path_test, acquires_what_is_free_of_a_batch_in_one_statement_and_leaves_the_rest) {
  held_by_rival("b");
  auto work = batch_of(asks("a"), asks("b"), asks("c"), asks("new"));
  const auto all = work.acquires;
  const auto before = statements();
  acquire(work);
  EXPECT_EQ(statements(), before + 1);
  EXPECT_THAT(work.acquires, ElementsAre(all[1], all[3]));
  for (const auto i : {0U, 2U}) {
    const auto hold = hold_of(all[i]);
    ASSERT_TRUE(hold);
    EXPECT_EQ(hold->id(), holder_of(hold->name()));
    EXPECT_EQ(hold->lease(), engine->services().queue.lease());
  }
  for (const auto i : {1U, 3U}) {
    EXPECT_FALSE(all[i]->progress.may_try_fast());
    EXPECT_FALSE(all[i]->progress.is_in_doubt());
  }
}

TEST_F(fast_path_test, a_lone_request_enters_the_queue_behind_a_living_holder) {
  held_by_rival("a");
  auto work = batch_of(asks("a"));
  const auto asked = work.acquires.front();
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty());
  EXPECT_THAT(queue_of("a"), ElementsAre(asked->hold));
  EXPECT_EQ(engine->waiters().take(asked->hold), asked);
  EXPECT_FALSE(asked->answer.is_complete());
}

TEST_F(fast_path_test, one_that_would_not_wait_enters_no_queue) {
  held_by_rival("a");
  auto work = batch_of(asks("a", false));
  acquire(work);
  EXPECT_EQ(work.acquires.size(), 1U);
  EXPECT_THAT(queue_of("a"), IsEmpty());
}

TEST_F(fast_path_test, a_name_that_was_contended_is_queued_for_at_once) {
  held_by_rival("a");
  services().contended.add("a");
  auto work = batch_of(asks("a"));
  acquire(work);
  EXPECT_EQ(faults->count("acquire"), 1) << "that of the rival";
  EXPECT_EQ(queue_of("a").size(), 1U);
}

TEST_F(fast_path_test, a_name_that_was_contended_and_is_free_is_acquired_and_forgotten) {
  services().contended.add("a");
  const auto hold = held("a");
  ASSERT_TRUE(hold);
  EXPECT_EQ(holder_of("a"), hold->id());
  EXPECT_FALSE(services().contended.contains("a"));
}

TEST_F(fast_path_test, sends_nothing_without_a_lease) {
  time.advance(30s);
  auto work = batch_of(asks("a"));
  const auto before = statements();
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty()) << "it is delayed";
  EXPECT_EQ(statements(), before);
}

TEST_F(fast_path_test, asks_for_nothing_that_nobody_wants_any_more) {
  auto work = batch_of(asks("a"));
  work.acquires.front()->answer.give_up();
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty());
  EXPECT_TRUE(holder_of("a").is_nil());
  EXPECT_THAT(submitted().releases, IsEmpty()) << "it was never sent, so there is nothing to withdraw";
}

TEST_F(fast_path_test, withdraws_what_may_be_stored_and_nobody_wants_any_more) {
  held_by_rival("a");
  auto work = batch_of(asks("a", false));
  const auto asked = work.acquires.front();
  acquire(work);
  asked->answer.give_up();
  auto again = work;
  acquire(again);
  EXPECT_THAT(again.acquires, IsEmpty());
  EXPECT_THAT(submitted().releases, IsEmpty()) << "it was not granted";

  asked->progress.sent();
  asked->progress.failed(false);
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty());
  const auto withdrawn = submitted().releases;
  ASSERT_EQ(withdrawn.size(), 1U);
  EXPECT_EQ(withdrawn.front()->hold, asked->hold);
}

// The old lease may have been granted the lock, which ends with that lease. So its id must not be taken for the new
// request's (I7).
TEST_F(fast_path_test, on_a_new_lease_a_request_begins_anew) {
  auto work = batch_of(asks("a"));
  const auto asked = work.acquires.front();
  const auto old = asked->hold;
  asked->lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id{});
  asked->progress.needs_edit();
  acquire(work);
  const auto hold = hold_of(asked);
  ASSERT_TRUE(hold);
  EXPECT_NE(hold->id(), old);
  EXPECT_FALSE(queue().ids().contains(old));
  EXPECT_FALSE(queue().ids().contains(hold->id())) << "it has its answer, and the hold is registered";
}

TEST_F(fast_path_test, on_a_new_lease_the_new_id_is_in_use) {
  held_by_rival("a");
  auto work = batch_of(asks("a"));
  const auto asked = work.acquires.front();
  const auto old = asked->hold;
  asked->lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id{});
  acquire(work);
  EXPECT_NE(asked->hold, old);
  EXPECT_TRUE(queue().ids().contains(asked->hold));
}

TEST_F(fast_path_test, an_explicit_ttl_is_left_to_an_edit_unless_its_name_was_contended) {
  const auto asked = asks("a");
  asked->ttl = 5s;
  auto work = batch_of(asked);
  acquire(work);
  EXPECT_THAT(work.acquires, ElementsAre(asked));
  EXPECT_EQ(statements(), 0);
  held_by_rival("a");
  services().contended.add("a");
  const auto before = statements();
  acquire(work);
  EXPECT_EQ(statements(), before + 1);
  EXPECT_THAT(queue_of("a"), ElementsAre(asked->hold));
}

// The statement of a broken connection may still grant it on the lease of its own, which does not end with the
// client's.
TEST_F(fast_path_test, an_explicit_ttl_in_doubt_waits_for_the_end_of_its_ghost_also_on_a_new_lease) {
  const auto asked = asks("a");
  const auto old = asked->hold;
  asked->ttl = 5s;
  asked->lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id{});
  asked->moving_to =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 5s, false, asked->lease->id());
  asked->progress.sent();
  asked->progress.failed(false);
  environment().ghosts.add({"a backend", time.now()});
  faults->refuse("end_ghost");
  auto work = batch_of(asked);
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty());
  EXPECT_EQ(asked->hold, old);
  EXPECT_THAT(submitted().releases, IsEmpty());
  work = batch_of(asked);
  acquire(work);
  EXPECT_NE(asked->hold, old);
  EXPECT_FALSE(asked->moving_to);
  const auto withdrawn = submitted().releases;
  ASSERT_EQ(withdrawn.size(), 1U);
  EXPECT_EQ(withdrawn.front()->hold, old);
}

TEST_F(fast_path_test, on_a_new_lease_a_member_of_a_barrier_learns_that_it_is_broken) {
  auto work = batch_of(asks("a", true, model::lock_kind::barrier));
  const auto asked = work.acquires.front();
  asked->lease =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id{});
  acquire(work);
  EXPECT_THAT(work.acquires, IsEmpty());
  EXPECT_EQ(failure_of(asked), errc::broken_barrier);
}

TEST_F(fast_path_test, a_lost_answer_leaves_those_requests_in_doubt_that_were_sent) {
  faults->lose_answer("acquire");
  auto work = batch_of(asks("a"), asks("b"));
  const auto decided = work.acquires.back();
  decided->lease = engine->services().queue.lease();
  decided->progress.needs_edit();
  EXPECT_EQ(code_of([&] { acquire(work); }), errc::unreachable);
  for (const auto& one : work.acquires) one->progress.failed(false);
  EXPECT_TRUE(work.acquires.front()->progress.is_in_doubt());
  EXPECT_FALSE(decided->progress.is_in_doubt());
  EXPECT_FALSE(holder_of("a").is_nil()) << "it was granted indeed";
}

TEST_F(fast_path_test, a_shared_request_is_granted_by_the_fast_statement_too) {
  side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 2}});
  for (const bool granted : {true, true, false}) {
    auto work = batch_of(asks_to_share("s", 2));
    const auto asked = work.acquires.front();
    acquire(work);
    EXPECT_EQ(hold_of(asked) != nullptr, granted);
    EXPECT_EQ(work.acquires.empty(), granted);
  }
  EXPECT_EQ(faults->count("enqueue"), 0) << "an edit decides about shared requests that wait";
}

TEST_F(fast_path_test, grants_and_releases_several_readers_of_one_name_in_one_statement_each) {
  const model::lock_definition lock{"m", model::lock_kind::shared_mutex, model::shared_mutex_capacity};
  side->create({&lock, 1});
  auto work = batch_of(reads("m"), reads("m"), reads("m"));
  work.joined.insert("m");
  const auto asked = work.acquires;
  acquire(work);
  EXPECT_EQ(faults->count("acquire"), 1);
  EXPECT_THAT(work.acquires, IsEmpty());
  auto ends = batch_of(leaves(hold_of(asked[0])), leaves(hold_of(asked[1])), leaves(hold_of(asked[2])));
  ends.joined.insert("m");
  const auto operations = ends.releases;
  for (const auto& one : operations) one->fast = true;
  fast.release(ends);
  EXPECT_EQ(faults->count("release"), 1);
  EXPECT_THAT(ends.releases, IsEmpty());
  for (const auto& one : operations) EXPECT_EQ(result_of(one), release_result::released);
}

TEST_F(fast_path_test, leaves_several_requests_for_one_semaphore_to_an_edit) {
  side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 2}});
  auto work = batch_of(asks_to_share("s", 2), asks_to_share("s", 2));
  work.joined.insert("s");
  acquire(work);
  EXPECT_EQ(work.acquires.size(), 2U);
  EXPECT_EQ(faults->count("acquire"), 0);
}

TEST_F(fast_path_test, grants_no_shared_request_before_another_of_its_name_that_an_edit_must_decide) {
  const model::lock_definition lock{"m", model::lock_kind::shared_mutex, model::shared_mutex_capacity};
  side->create({&lock, 1});
  const auto before = faults->count("acquire");
  auto with_writer = batch_of(reads("m"), asks("m", true, lock.kind), reads("m"));
  with_writer.joined.insert("m");
  acquire(with_writer);
  EXPECT_EQ(with_writer.acquires.size(), 3U);
  auto known = reads("m");
  known->progress.needs_edit();
  auto with_known = batch_of(known, reads("m"));
  with_known.joined.insert("m");
  acquire(with_known);
  EXPECT_EQ(with_known.acquires.size(), 2U);
  EXPECT_EQ(faults->count("acquire"), before);
  auto alone = batch_of(reads("m"), reads("m"));
  alone.joined.insert("m");
  acquire(alone);
  EXPECT_THAT(alone.acquires, IsEmpty());
}

TEST_F(fast_path_test, releases_in_one_statement_for_each_durability) {
  std::vector<client_layer::release_ptr> operations;
  for (const auto* name : {"a", "b", "c"}) {
    operations.push_back(leaves(held(name)));
    operations.back()->fast = true;
  }
  operations[2]->how = store::durability::durable;
  auto work = batch_of(operations[0], operations[1], operations[2]);
  fast.release(work);
  EXPECT_EQ(faults->count("release"), 2);
  EXPECT_THAT(work.releases, IsEmpty());
  for (const auto& one : operations) EXPECT_EQ(result_of(one), release_result::released);
  for (const auto* name : {"a", "b", "c"}) EXPECT_TRUE(holder_of(name).is_nil());
  EXPECT_EQ(environment().count.released, 3U);
}

TEST_F(fast_path_test, leaves_a_release_that_others_wait_for_or_that_is_not_to_be_fast) {
  const auto slow = leaves(held("a"));
  const auto contended = leaves(held("b"));
  contended->fast = true;
  queued_rival("b");
  auto work = batch_of(slow, contended);
  fast.release(work);
  EXPECT_THAT(work.releases, ElementsAre(slow, contended));
  EXPECT_FALSE(holder_of("a").is_nil());
}

TEST_F(fast_path_test, hands_over_to_the_first_waiter_durably) {
  const auto operation = leaves(held("a"));
  operation->try_hand_over = true;
  const auto first = queued_rival("a");
  queued_rival("a");
  std::vector operations{operation};
  fast.hand_over(operations);
  EXPECT_THAT(operations, IsEmpty());
  EXPECT_EQ(result_of(operation), release_result::released);
  EXPECT_EQ(operation->how, store::durability::durable);
  EXPECT_EQ(holder_of("a"), first.hold);
  EXPECT_EQ(environment().count.hand_overs, 1U);
}

TEST_F(fast_path_test, a_waiter_of_this_client_learns_of_the_hand_over_at_once) {
  const auto operation = leaves(held("a"));
  operation->try_hand_over = true;
  auto work = batch_of(asks("a"));
  const auto waiter = work.acquires.front();
  acquire(work);
  std::vector operations{operation};
  fast.hand_over(operations);
  const auto hold = hold_of(waiter);
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->id(), holder_of("a"));
}

TEST_F(fast_path_test, tries_a_hand_over_three_times_and_once) {
  const auto operation = leaves(held("a"));
  operation->try_hand_over = true;
  std::vector operations{operation};
  server->lock_row("a");
  fast.hand_over(operations);
  EXPECT_EQ(faults->count("hand_over"), 3);
  EXPECT_THAT(operations, ElementsAre(operation)) << "the slow path decides";
  fast.hand_over(operations);
  EXPECT_EQ(faults->count("hand_over"), 3);
}

TEST_F(fast_path_test, a_freed_unfair_lock_is_swept_once_after_a_moment) {
  side->create(std::vector<model::lock_definition>{{"u", model::lock_kind::mutex, 1, false}});
  for (int i = 0; i < 2; ++i) {
    auto asked = batch_of(asks("u"));
    asked.acquires.front()->definition.fair = false;
    const auto operation = asked.acquires.front();
    acquire(asked);
    const auto release = leaves(hold_of(operation));
    release->fast = true;
    auto work = batch_of(release);
    fast.release(work);
  }
  EXPECT_THAT(submitted().releases, IsEmpty());
  time.advance(2ms);
  const auto sweeps = submitted().releases;
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps.front()->name, "u");
}

TEST_F(fast_path_test, a_new_leader_wakes_those_who_watch_the_office) {
  side->create(std::vector<model::lock_definition>{{"o", model::lock_kind::election}});
  side->listen(client_layer::office_watchers());
  auto work = batch_of(asks("o", true, model::lock_kind::election));
  const auto asked = work.acquires.front();
  acquire(work);
  EXPECT_TRUE(side->wait(0s));
  const auto release = leaves(hold_of(asked));
  release->fast = true;
  auto left = batch_of(release);
  fast.release(left);
  EXPECT_TRUE(side->wait(0s));
  held("a");
  EXPECT_FALSE(side->wait(0s)) << "a mutex is no office";
}

TEST_F(fast_path_test, an_attempt_that_would_not_wait_is_busy_when_a_read_finds_the_lock_held) {
  held_by_rival("a");
  const auto attempt = asks("a", false);
  const auto waits = asks("b");
  const auto free = asks("c", false);
  std::vector operations{attempt, waits, free};
  fast.look_first(operations);
  EXPECT_EQ(faults->count("find"), 1);
  EXPECT_THAT(operations, ElementsAre(waits, free));
  EXPECT_TRUE(attempt->answer.is_complete());
  EXPECT_FALSE(hold_of(attempt));
  EXPECT_EQ(environment().count.busy, 1U);
}

TEST_F(fast_path_test, a_look_leaves_another_kind_and_a_dead_holder_to_an_edit) {
  const auto dead = held_by_rival("a");
  held_by_rival("b");
  server->expire(dead.lease);
  std::vector operations{asks("a", false), asks("b", false, model::lock_kind::election)};
  fast.look_first(operations);
  EXPECT_EQ(operations.size(), 2U);
}

TEST_F(fast_path_test, a_look_leaves_a_shared_request_for_which_there_is_room) {
  side->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 2}});
  const auto other = rival_with_lease();
  const std::vector<store::acquire_item> wanted{
      {"s", model::lock_kind::semaphore, 2, other.lease, other.hold, true, model::lock_mode::shared, 1}};
  ASSERT_EQ(side->acquire(wanted).size(), 1U);
  const auto fits = asks_to_share("s", 2, false);
  const auto large = asks_to_share("s", 2, false);
  large->weight = 2;
  std::vector operations{fits, large};
  fast.look_first(operations);
  EXPECT_THAT(operations, ElementsAre(fits));
  EXPECT_TRUE(large->answer.is_complete());
}

}  // namespace
}  // namespace rowlock::test
