// Which waiters are stuck in a circle: pure functions of what was read.
#include "client/worker/wait_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::contended_lock;
using client_layer::find_cycles;
using client_layer::wait_cycle;
using model::hold_id;
using model::lock_mode;
using testing::IsEmpty;
using testing::SizeIs;

// A thread that holds locks or waits for them.
struct somebody {
  hold_id first = hold_id::random();
  std::string host;
  hold_id another() const { return first.sibling(); }
  store::lease_record lease() const { return {model::lease_id::random(), {}, host, 1, "test", 30s}; }
};

class lock_builder {
 public:
  explicit lock_builder(const std::string& name, model::lock_kind kind = model::lock_kind::mutex,
                        std::int64_t capacity = 1) {
    made_.lock.row.name = name;
    made_.lock.row.kind = kind;
    made_.lock.row.capacity = capacity;
  }
  lock_builder& held_by(const somebody& who, std::int64_t weight = 1,
                        std::chrono::milliseconds expires_in = 30s) {
    made_.lock.holders.push_back(
        {.lease = who.lease(), .hold = who.another(), .weight = weight, .expires_in = expires_in});
    return *this;
  }
  // The hold is over, but its minimum hold time is not.
  lock_builder& resting_after(const somebody& who) {
    held_by(who);
    auto& over = made_.lock.holders.back();
    over.lease.id = over.lease.client = model::lease_id::belonging_to(over.hold);
    return *this;
  }
  lock_builder& wanted_by(const somebody& who, std::int64_t weight = 1, lock_mode mode = lock_mode::exclusive,
                          bool alive = true) {
    made_.queue.push_back({{next_++, who.another(), {}, weight, mode}, who.lease(), 30s, alive});
    return *this;
  }
  lock_builder& unfair() {
    made_.lock.row.fair = false;
    return *this;
  }
  operator contended_lock() const { return made_; }  // NOLINT: a builder is used as what it builds

 private:
  contended_lock made_;
  std::int64_t next_ = 1;
};

lock_builder a_mutex(const std::string& name) {
  return lock_builder{name};
}
lock_builder a_semaphore(const std::string& name, std::int64_t capacity) {
  return lock_builder{name, model::lock_kind::semaphore, capacity};
}

std::vector<std::string> names_of(const wait_cycle& cycle) {
  std::vector<std::string> names;
  for (const auto& one : cycle) names.push_back(one.name);
  return names;
}

const somebody me{.host = "here"};
const somebody you{.host = "there"};
const somebody other{.host = "elsewhere"};

TEST(wait_graph_test, two_that_want_what_the_other_has_wait_in_a_circle) {
  const auto cycles =
      find_cycles({a_mutex("a").held_by(me).wanted_by(you), a_mutex("b").held_by(you).wanted_by(me)});
  ASSERT_THAT(cycles, SizeIs(1));
  EXPECT_THAT(names_of(cycles.front()), testing::UnorderedElementsAre("a", "b"));
  EXPECT_THAT(
      client_layer::describe(cycles.front()),
      testing::AllOf(testing::HasSubstr("there 1 (test) waits for \"a\""),
                     testing::HasSubstr(
                         "here 1 (test), which holds that lock or is ahead in its queue, waits for \"b\"")));
}

TEST(wait_graph_test, three_are_named_in_the_order_in_which_they_wait) {
  const auto cycles =
      find_cycles({a_mutex("a").held_by(me).wanted_by(you), a_mutex("b").held_by(you).wanted_by(other),
                   a_mutex("c").held_by(other).wanted_by(me)});
  ASSERT_THAT(cycles, SizeIs(1));
  EXPECT_THAT(names_of(cycles.front()), testing::ElementsAre("a", "c", "b"));
}

TEST(wait_graph_test, a_waiter_for_somebody_at_work_waits_in_no_circle) {
  EXPECT_THAT(
      find_cycles({a_mutex("a").held_by(me).wanted_by(you), a_mutex("b").held_by(you).wanted_by(other)}),
      IsEmpty());
}

TEST(wait_graph_test, a_thread_that_waits_for_itself_is_a_circle_of_one) {
  EXPECT_THAT(find_cycles({a_mutex("a").held_by(me).wanted_by(me)}), SizeIs(1));
}

TEST(wait_graph_test, a_waiter_behind_a_circle_is_not_in_it) {
  const auto cycles = find_cycles(
      {a_mutex("a").held_by(me).wanted_by(you).wanted_by(other), a_mutex("b").held_by(you).wanted_by(me)});
  ASSERT_THAT(cycles, SizeIs(1));
  for (const auto& one : cycles.front()) EXPECT_NE(one.waiter.lease.host, "elsewhere");
}

TEST(wait_graph_test, a_place_in_the_queue_before_one_counts_as_holding) {
  // `other` would fit beside `me`, but stands behind `you`, who wants to write and waits for `other`.
  const auto shared = [](const lock_builder& lock) { return contended_lock(lock); };
  auto catalog = lock_builder{"c", model::lock_kind::shared_mutex, 100};
  catalog.held_by(me).wanted_by(you, 100).wanted_by(other, 1, lock_mode::shared);
  auto b = a_mutex("b").held_by(other).wanted_by(me);
  EXPECT_THAT(find_cycles({shared(catalog), b}), SizeIs(1));
  EXPECT_THAT(find_cycles({shared(catalog.unfair()), b}), IsEmpty()) << "there it may overtake";
}

TEST(wait_graph_test, a_permit_that_will_come_back_breaks_the_circle) {
  auto b = a_mutex("b").held_by(you).wanted_by(me);
  EXPECT_THAT(
      find_cycles({a_semaphore("s", 2).held_by(me).held_by(other).wanted_by(you, 1, lock_mode::shared), b}),
      IsEmpty());
  EXPECT_THAT(
      find_cycles({a_semaphore("s", 2).held_by(me).held_by(other).wanted_by(you, 2, lock_mode::shared), b}),
      SizeIs(1));
}

// It comes free by itself, although its id still says whose it was.
TEST(wait_graph_test, what_rests_is_in_nobodys_hands) {
  const auto other_lock = a_mutex("m").held_by(you).wanted_by(me);
  EXPECT_THAT(find_cycles({a_semaphore("s", 1).held_by(me).wanted_by(you), other_lock}), SizeIs(1));
  EXPECT_THAT(find_cycles({a_semaphore("s", 1).resting_after(me).wanted_by(you), other_lock}), IsEmpty());
  EXPECT_THAT(find_cycles({a_semaphore("s", 2).resting_after(me).held_by(me).wanted_by(you, 2), other_lock}),
              SizeIs(1));
}

TEST(wait_graph_test, the_dead_and_the_expired_stand_in_nobodys_way) {
  auto b = a_mutex("b").held_by(you).wanted_by(me);
  EXPECT_THAT(find_cycles({a_mutex("a").held_by(me, 1, -1ms).wanted_by(you), b}), IsEmpty());
  EXPECT_THAT(find_cycles({a_mutex("a").held_by(me).wanted_by(you, 1, lock_mode::exclusive, false), b}),
              IsEmpty());
}

TEST(wait_graph_test, a_member_of_a_rendezvous_waits_for_nobody_that_is_known) {
  EXPECT_THAT(find_cycles({lock_builder("l", model::lock_kind::latch, 3).held_by(me).wanted_by(you),
                           a_mutex("b").held_by(you).wanted_by(me)}),
              IsEmpty());
}

TEST(wait_graph_test, two_circles_are_told_apart) {
  const somebody fourth{.host = "nowhere"};
  EXPECT_THAT(find_cycles({a_mutex("a").held_by(me).wanted_by(you), a_mutex("b").held_by(you).wanted_by(me),
                           a_mutex("c").held_by(other).wanted_by(fourth),
                           a_mutex("d").held_by(fourth).wanted_by(other)}),
              SizeIs(2));
}

TEST(wait_graph_test, circles_are_the_same_when_their_waiters_are) {
  const contended_lock a = a_mutex("a").held_by(me).wanted_by(you);
  const contended_lock b = a_mutex("b").held_by(you).wanted_by(me);
  const auto one = find_cycles({a, b}).front();
  EXPECT_TRUE(client_layer::is_same_cycle(one, find_cycles({b, a}).front()));
  EXPECT_FALSE(
      client_layer::is_same_cycle(one, find_cycles({a, a_mutex("b").held_by(you).wanted_by(me)}).front()));
}

}  // namespace
}  // namespace rowlock::test
