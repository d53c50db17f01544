#include "client/core/submission_queue.hpp"

#include "client/client_test.hpp"

#include "support/background.hpp"
#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::acquire_operation;
using client_layer::acquire_ptr;
using client_layer::release_operation;
using client_layer::release_ptr;
using client_layer::worker_role;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class submission_queue_test : public testing::Test {
 protected:
  submission_queue_test() { queue.use_lease(own); }

  acquire_ptr asks(const std::string& name, model::lock_kind kind = model::lock_kind::shared_mutex) {
    auto made = std::make_shared<acquire_operation>();
    made->definition = {name, kind, 5};
    made->mode = kind == model::lock_kind::mutex ? model::lock_mode::exclusive : model::lock_mode::shared;
    return made;
  }
  release_ptr leaves(const std::string& name, model::lock_mode mode = model::lock_mode::shared) {
    auto made = std::make_shared<release_operation>();
    made->name = name;
    made->mode = mode;
    return made;
  }
  // A request that stands in the lock's queue, on a lease with a deadline in 10 s.
  acquire_ptr waits(const std::string& name) {
    auto made = asks(name);
    made->lease = std::make_shared<client_layer::lease>(model::lease_id::random(), 10s, true,
                                                        model::lease_id::random());
    made->lease->confirm(time.now(), 0s);
    made->progress.queued();
    return made;
  }
  client_layer::batch next(worker_role role = worker_role::everything) {
    auto taken = queue.take(role);
    queue.finish(taken);
    return taken;
  }

  virtual_time time;
  client_layer::client_environment shared{{}, time};
  const std::shared_ptr<client_layer::lease> own =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 30s, true, model::lease_id::random());
  client_layer::keeper_agenda agenda;
  client_layer::submission_queue queue{shared, agenda};
};

TEST_F(submission_queue_test, a_name_is_once_in_a_batch) {
  const auto first = asks("a", model::lock_kind::mutex);
  const auto second = asks("a", model::lock_kind::mutex);
  const auto other = asks("b", model::lock_kind::mutex);
  for (const auto& one : {first, second, other}) queue.submit(one);
  const auto batch = next();
  EXPECT_THAT(batch.acquires, ElementsAre(first, other));
  EXPECT_THAT(batch.joined, IsEmpty());
  EXPECT_THAT(next().acquires, ElementsAre(second));
}

TEST_F(submission_queue_test, while_a_worker_has_a_name_no_other_gets_it) {
  const auto first = asks("a");
  const auto second = asks("a");
  queue.submit(first);
  const auto taken = queue.take(worker_role::everything);
  queue.submit(second);
  queue.submit(leaves("b"));
  EXPECT_THAT(next().acquires, IsEmpty());
  queue.finish(taken);
  EXPECT_THAT(next().acquires, ElementsAre(second));
}

TEST_F(submission_queue_test, sends_no_acquire_alone_while_a_release_that_goes_first_waits) {
  auto release = leaves("a");
  release->goes_first = true;
  queue.submit(release);
  EXPECT_TRUE(queue.alone(asks("a", model::lock_kind::mutex)).empty());
  EXPECT_FALSE(queue.alone(asks("b", model::lock_kind::mutex)).empty());
  const auto sent = queue.take(worker_role::releases);
  EXPECT_THAT(sent.releases, testing::SizeIs(1));
  queue.finish(sent);
  EXPECT_FALSE(queue.alone(asks("a", model::lock_kind::mutex)).empty());
}

// The client has two workers of a kind, as with five connections. The name that the one could not take becomes free
// before the other has completed its batch.
TEST_F(submission_queue_test, a_second_worker_gets_what_becomes_free_while_the_first_is_busy) {
  const auto first = asks("a", model::lock_kind::mutex);
  const auto second = asks("a", model::lock_kind::mutex);
  const auto other = asks("b", model::lock_kind::mutex);
  const auto sent_alone = queue.alone(first);
  ASSERT_FALSE(sent_alone.empty());
  const auto works = [&] {
    return in_background([&] { return queue.take(worker_role::acquires).acquires; });
  };
  std::array workers{works(), works()};
  virtual_time::let_others_sleep();
  queue.submit(second);
  virtual_time::let_others_sleep();
  queue.submit(other);
  const auto is_done = [](const auto& one) { return one.wait_for(0s) == std::future_status::ready; };
  ASSERT_TRUE(eventually([&] { return std::ranges::any_of(workers, is_done); }));
  if (is_done(workers[1])) std::swap(workers[0], workers[1]);
  EXPECT_THAT(workers[0].get(), ElementsAre(other));
  virtual_time::let_others_sleep();
  queue.finish(sent_alone);
  EXPECT_TRUE(eventually([&] { return is_done(workers[1]); }));
  queue.stop();
  EXPECT_THAT(workers[1].get(), ElementsAre(second));
}

TEST_F(submission_queue_test, those_of_a_shared_name_go_along) {
  const auto reader = asks("a");
  const auto other = asks("b", model::lock_kind::semaphore);
  const auto writer = asks("a");
  writer->mode = model::lock_mode::exclusive;
  for (const auto& one : {reader, other, writer}) queue.submit(one);
  const auto batch = next();
  EXPECT_THAT(batch.acquires, ElementsAre(reader, writer, other));
  EXPECT_THAT(batch.joined, ElementsAre("a"));
  EXPECT_THAT(batch.names, ElementsAre("a", "b"));
}

TEST_F(submission_queue_test, joined_requests_have_a_limit) {
  std::vector<acquire_ptr> readers;
  for (int i = 0; i < 70; ++i) {
    readers.push_back(asks("a"));
    queue.submit(readers.back());
  }
  EXPECT_EQ(next().acquires.size(), 64U);
  EXPECT_THAT(next().acquires, testing::ElementsAreArray(readers.begin() + 64, readers.end()));
}

TEST_F(submission_queue_test, releases_of_a_shared_name_go_along_and_acquires_behind_them) {
  const auto one = leaves("a");
  const auto other = leaves("a");
  const auto reader = asks("a");
  queue.submit(reader);
  queue.submit(one);
  queue.submit(other);
  const auto batch = next();
  EXPECT_THAT(batch.releases, ElementsAre(one, other));
  EXPECT_THAT(batch.acquires, ElementsAre(reader));
  EXPECT_THAT(batch.joined, ElementsAre("a"));
}

TEST_F(submission_queue_test, a_request_that_may_stand_in_the_queue_goes_alone_and_is_not_overtaken) {
  const auto first = asks("a");
  const auto waits = asks("a");
  waits->progress.queued();
  const auto doubtful = asks("a");
  doubtful->progress.sent();
  doubtful->progress.failed(false);
  const auto last = asks("a");
  for (const auto& one : {first, waits, doubtful, last}) queue.submit(one);
  for (const auto& one : {first, waits, doubtful, last}) EXPECT_THAT(next().acquires, ElementsAre(one));
}

TEST_F(submission_queue_test, a_withdrawal_of_which_little_is_known_goes_alone) {
  const auto one = leaves("a");
  const auto withdrawal = leaves("a", model::lock_mode::exclusive);
  const auto other = leaves("a");
  for (const auto& each : {one, withdrawal, other}) queue.submit(each);
  for (const auto& each : {one, withdrawal, other}) EXPECT_THAT(next().releases, ElementsAre(each));
}

TEST_F(submission_queue_test, one_that_goes_alone_waits_for_one_batch_of_releases) {
  const auto alone = asks("a");
  alone->retry.set_apart();
  const auto first = leaves("b");
  const auto second = leaves("c");
  queue.submit(alone);
  queue.submit(first);
  EXPECT_THAT(next().releases, ElementsAre(first));
  queue.submit(second);
  const auto batch = next();
  EXPECT_THAT(batch.acquires, ElementsAre(alone));
  EXPECT_THAT(batch.releases, IsEmpty());
  EXPECT_THAT(next().releases, ElementsAre(second));
}

// A worker that acquires may have to wait long for the database.
TEST_F(submission_queue_test, a_delayed_release_needs_no_worker_that_acquires) {
  queue.split_roles(true);
  for (const auto role : {worker_role::acquires, worker_role::releases}) queue.count_worker(role, true);
  const auto release = leaves("a");
  queue.delay(release, 10ms);
  auto taken = in_background([&] { return next(worker_role::releases); });
  ASSERT_TRUE(eventually([&] {
    time.advance(10ms);
    return taken.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_THAT(taken.get().releases, ElementsAre(release));
}

TEST_F(submission_queue_test, any_worker_ends_what_is_left_when_it_was_stopped) {
  queue.split_roles(true);
  const auto left = leaves("a");
  queue.submit(left);
  queue.stop();
  EXPECT_THAT(next(worker_role::acquires).releases, ElementsAre(left)) << "the worker for releases has ended";
  EXPECT_TRUE(next(worker_role::acquires).empty());
}

TEST_F(submission_queue_test, what_one_worker_puts_back_the_next_takes) {
  const auto first = asks("a");
  const auto second = asks("b");
  const auto freed = leaves("c");
  queue.submit(first);
  queue.submit(freed);
  auto taken = queue.take(worker_role::everything);
  queue.submit(second);
  queue.put_back(std::move(taken));
  const auto again = next();
  EXPECT_THAT(again.acquires, ElementsAre(first, second)) << "in the order in which they came";
  EXPECT_THAT(again.releases, ElementsAre(freed));
}

TEST_F(submission_queue_test, when_acquires_have_ended_only_releases_are_put_back) {
  const auto asked = asks("a");
  const auto freed = leaves("b");
  queue.submit(asked);
  queue.submit(freed);
  auto taken = queue.take(worker_role::everything);
  queue.stop_acquires();
  EXPECT_FALSE(asked->answer.is_complete());
  queue.put_back(std::move(taken));
  EXPECT_THROW(std::ignore = asked->answer.take(), error);
  EXPECT_TRUE(asked->answer.is_complete());
  const auto rest = next();
  EXPECT_THAT(rest.acquires, IsEmpty());
  EXPECT_THAT(rest.releases, ElementsAre(freed));
}

TEST_F(submission_queue_test, an_acquire_that_is_refused_leaves_no_place_in_the_queue) {
  const auto again = waits("a");
  const auto later = waits("b");
  const auto never_sent = asks("c");
  queue.submit(again);
  queue.submit(never_sent);
  queue.delay(later, 1s);
  queue.stop_acquires();
  const auto late = waits("d");
  queue.submit(late);
  ASSERT_FALSE(queue.drain(time.now())) << "nothing was withdrawn";
  std::vector<model::hold_id> withdrawn;
  for (const auto& release : next().releases) withdrawn.push_back(release->hold);
  EXPECT_THAT(withdrawn, UnorderedElementsAre(again->hold, later->hold, late->hold));
  for (const auto& one : {again, later, never_sent, late})
    EXPECT_THROW(std::ignore = one->answer.take(), error);
}

TEST_F(submission_queue_test, nothing_is_withdrawn_that_ends_with_a_lost_lease) {
  const auto again = waits("a");
  queue.submit(again);
  time.advance(11s);
  queue.stop_acquires();
  EXPECT_THROW(std::ignore = again->answer.take(), error);
  EXPECT_TRUE(queue.drain(time.now())) << "no withdrawal";
}

TEST_F(submission_queue_test, the_id_of_a_withdrawn_request_is_in_use_until_the_withdrawal_has_ended) {
  const auto asked = asks("a");
  queue.submit(asked);
  std::ignore = next();
  EXPECT_TRUE(queue.ids().contains(asked->hold));
  asked->progress.queued();
  ASSERT_TRUE(asked->answer.give_up());
  queue.withdraw(*asked);
  auto withdrawals = next().releases;
  ASSERT_EQ(withdrawals.size(), 1U);
  EXPECT_TRUE(queue.ids().contains(asked->hold));
  withdrawals.clear();
  EXPECT_FALSE(queue.ids().contains(asked->hold)) << "although the request is kept";
}

TEST_F(submission_queue_test, gives_no_acquires_out_until_it_may) {
  EXPECT_TRUE(queue.drop_lease(*own));
  EXPECT_FALSE(queue.drop_lease(*own));
  const auto asked = asks("a");
  const auto freed = leaves("b");
  queue.submit(asked);
  queue.submit(freed);
  EXPECT_THAT(next().acquires, IsEmpty());
  queue.use_lease(own);
  const auto taken = next();
  EXPECT_THAT(taken.acquires, ElementsAre(asked));
  EXPECT_EQ(taken.lease, own);
}

}  // namespace
}  // namespace rowlock::test
