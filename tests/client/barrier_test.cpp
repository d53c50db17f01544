#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

using generation = std::int64_t;

std::future<generation> arriving_at(barrier& at) {
  return in_background([&at] { return at.arrive_and_wait(); });
}
template <class Result>
bool is_over(const std::future<Result>& arrived) {
  return arrived.wait_for(0s) == std::future_status::ready;
}
std::optional<errc> failure_of(std::future<generation>& arrived) {
  return code_of([&] { arrived.get(); });
}

class barrier_test : public client_test {
 protected:
  bool are_waiting(std::size_t count) {
    return eventually([&] { return queued("phase") == count; });
  }
  // Whether nothing of a generation remains except the number of the latest.
  bool is_clean() {
    return eventually([&] {
      const auto found = side().show("phase");
      return queued("phase") == 0 && found && found->holders.empty() && !found->row.has_queue;
    });
  }

  client db = new_client();
  client other = new_client();
  client third = new_client();
  barrier phase{db, "phase", 3};
  barrier there{other, "phase", 3};
  barrier yonder{third, "phase", 3};
};

TEST_P(barrier_test, all_go_on_together_with_one_number) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  auto two = arriving_at(there);
  ASSERT_TRUE(are_waiting(2));
  EXPECT_EQ(phase.waiting(), 2);
  const auto members = yonder.members();
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].application, "client tests");
  EXPECT_GT(members[1].pid, 0);
  EXPECT_FALSE(members[0].leads || members[1].leads);
  EXPECT_FALSE(is_over(one));
  const auto number = yonder.arrive_and_wait();
  EXPECT_EQ(one.get(), number);
  EXPECT_EQ(two.get(), number);
  EXPECT_TRUE(is_clean());
  EXPECT_THAT(phase.members(), testing::IsEmpty());
}

TEST_P(barrier_test, the_next_generation_has_a_higher_number) {
  generation before = 0;
  for (int round = 0; round < 5; ++round) {
    auto one = arriving_at(phase);
    auto two = arriving_at(there);
    const auto number = yonder.arrive_and_wait();
    EXPECT_GT(number, before);
    EXPECT_EQ(one.get(), number);
    EXPECT_EQ(two.get(), number);
    before = number;
  }
  EXPECT_TRUE(is_clean());
}

// The first arrival of the next phase must not count for this one.
TEST_P(barrier_test, generations_do_not_mix) {
  const auto march = [](barrier& at) {
    std::vector<generation> numbers;
    for (int round = 0; round < 10; ++round) numbers.push_back(at.arrive_and_wait());
    return numbers;
  };
  auto one = in_background([&] { return march(phase); });
  auto two = in_background([&] { return march(there); });
  const auto numbers = march(yonder);
  EXPECT_EQ(one.get(), numbers);
  EXPECT_EQ(two.get(), numbers);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_P(barrier_test, threads_of_one_process_meet_as_well) {
  auto one = arriving_at(phase);
  auto two = arriving_at(phase);
  const auto number = phase.arrive_and_wait();
  EXPECT_EQ(one.get(), number);
  EXPECT_EQ(two.get(), number);
}

TEST_P(barrier_test, who_gives_up_breaks_it_for_the_others) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  EXPECT_FALSE(there.arrive_and_wait_for(50ms));
  EXPECT_EQ(failure_of(one), errc::broken_barrier);
  EXPECT_TRUE(is_clean());
  auto again = arriving_at(phase);
  auto two = arriving_at(there);
  const auto number = yonder.arrive_and_wait();
  EXPECT_EQ(again.get(), number) << "it is usable again";
  EXPECT_EQ(two.get(), number);
}

TEST_P(barrier_test, the_last_one_goes_on_although_it_has_no_time) {
  auto one = arriving_at(phase);
  auto two = arriving_at(there);
  ASSERT_TRUE(are_waiting(2));
  const auto number = yonder.arrive_and_wait_for(0ms);
  ASSERT_TRUE(number);
  EXPECT_EQ(one.get(), *number);
  EXPECT_EQ(two.get(), *number);
}

TEST_P(barrier_test, who_is_stopped_breaks_it_for_the_others) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  std::stop_source stop;
  auto two = in_background([&] { return there.arrive_and_wait(stop.get_token()); });
  ASSERT_TRUE(are_waiting(2));
  stop.request_stop();
  EXPECT_EQ(failure_of(two), errc::cancelled);
  EXPECT_EQ(failure_of(one), errc::broken_barrier);
}

TEST_P(barrier_test, a_dead_member_breaks_it_for_the_others) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  auto two = arriving_at(there);
  ASSERT_TRUE(are_waiting(2));
  kill(side().queue("phase").at(1).lease.id);
  EXPECT_EQ(failure_of(one), errc::broken_barrier);
  EXPECT_TRUE(is_clean());
  // The member's process learns of the break when it renews.
}

TEST_P(barrier_test, an_expired_member_breaks_it_for_the_others) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  auto two = arriving_at(there);
  ASSERT_TRUE(are_waiting(2));
  fixture().expire(side().queue("phase").at(0).lease.id);
  EXPECT_EQ(failure_of(two), errc::broken_barrier);
}

TEST_P(barrier_test, who_comes_after_a_death_begins_anew) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  kill(side().queue("phase").at(0).lease.id);
  auto two = arriving_at(there);
  auto three = arriving_at(there);
  const auto number = yonder.arrive_and_wait();
  EXPECT_EQ(two.get(), number);
  EXPECT_EQ(three.get(), number);
  EXPECT_EQ(failure_of(one), errc::broken_barrier) << "it was not one of them";
}

TEST_P(barrier_test, a_client_that_closes_breaks_it_for_the_others) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  auto two = arriving_at(there);
  ASSERT_TRUE(are_waiting(2));
  other.close();
  EXPECT_EQ(failure_of(two), errc::closed);
  EXPECT_EQ(failure_of(one), errc::broken_barrier);
}

TEST_P(barrier_test, of_one_party_never_waits) {
  barrier alone{db, "alone", 1};
  const auto first = alone.arrive_and_wait();
  EXPECT_GT(alone.arrive_and_wait(), first);
}

TEST_P(barrier_test, as_many_as_possible_meet) {
  barrier big{db, "phase", barrier::most_parties};
  std::vector<std::future<generation>> crowd;
  for (std::int64_t i = 1; i < barrier::most_parties; ++i) crowd.push_back(arriving_at(big));
  const auto number = big.arrive_and_wait();
  for (auto& one : crowd) EXPECT_EQ(one.get(), number);
  EXPECT_TRUE(is_clean());
}

TEST_P(barrier_test, impossible_numbers_and_other_locks_are_refused) {
  EXPECT_EQ(code_of([&] { barrier(db, "x", 0); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { barrier(db, "x", barrier::most_parties + 1); }), errc::invalid_argument);
  EXPECT_FALSE(phase.arrive_and_wait_for(1ms));
  EXPECT_EQ(code_of([&] { barrier(db, "phase", 4).arrive_and_wait(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = barrier(db, "phase", 4).waiting(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "phase").acquire(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { latch(db, "phase", 3).count_down(); }), errc::mismatch);
}

TEST_P(barrier_test, is_collected_when_nobody_waits) {
  EXPECT_FALSE(phase.arrive_and_wait_for(1ms));
  ASSERT_TRUE(is_clean());
  fixture().age("phase", 2h);
  EXPECT_EQ(admin{db}.collect(1h), 1);
}

ROWLOCK_FOR_EACH_STORE(barrier_test);

// Arrivals whose answers are lost.
class barrier_doubt_test : public virtual_client_test {
 protected:
  barrier_doubt_test() { barrier(db, "alone", 1).arrive_and_wait(); }
  bool are_waiting(std::size_t count) {
    return soon([&] { return queued("phase") == count; });
  }
  std::size_t permits(const std::string& name = "phase") const {
    const auto tables = server->snapshot();
    const auto found = tables.permits.find(name);
    return found == tables.permits.end() ? 0 : found->second.size();
  }

  client db = new_client();
  client other = new_client();
  barrier phase{db, "phase", 2};
  barrier there{other, "phase", 2};
};

TEST_F(barrier_doubt_test, an_arrival_whose_answer_was_lost_is_one) {
  faults.lose_answer("edit");
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  EXPECT_FALSE(is_over(one));
  auto two = arriving_at(there);
  ASSERT_TRUE(soon([&] { return is_over(one) && is_over(two); }));
  EXPECT_EQ(one.get(), two.get());
  EXPECT_TRUE(soon([&] { return permits() == 0; })) << "I6";
}

TEST_F(barrier_doubt_test, the_last_arrival_whose_answer_was_lost_completes_one_generation) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(are_waiting(1));
  faults.lose_answer("edit");
  auto two = arriving_at(there);
  ASSERT_TRUE(soon([&] { return is_over(one) && is_over(two); }));
  EXPECT_EQ(one.get(), two.get()) << "I7";
  EXPECT_TRUE(soon([&] { return permits() == 0 && queued("phase") == 0; }));
}

TEST_F(barrier_doubt_test, who_gives_up_after_all_have_arrived_goes_on) {
  std::stop_source stop;
  auto one = in_background([&] { return phase.arrive_and_wait_for(1h, stop.get_token()); });
  ASSERT_TRUE(are_waiting(1));
  faults.hang("edit");
  stop.request_stop();
  ASSERT_TRUE(soon([&] { return server->blocked() == 1; })) << "it is about to leave";
  auto two = arriving_at(there);
  ASSERT_TRUE(soon([&] { return is_over(two); }));
  server->unblock();
  ASSERT_TRUE(soon([&] { return is_over(one); }));
  EXPECT_EQ(one.get(), two.get()) << "none goes on without the other";
  EXPECT_TRUE(soon([&] { return permits() == 0; }));
}

TEST_F(barrier_doubt_test, a_member_whose_lease_is_lost_hears_that_it_is_broken) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(knows_places(db));
  const auto lost = server->snapshot().queues.at("phase").begin()->second.lease;
  faults.cut(true);
  advance(31s);
  faults.cut(false);
  ASSERT_TRUE(soon([&] { return is_over(one); }));
  EXPECT_EQ(failure_of(one), errc::broken_barrier) << "it arrives once, not again in another generation";
  EXPECT_TRUE(soon([&] { return !server->snapshot().find_lease(lost); }));
}

TEST_F(barrier_doubt_test, who_waits_asks_the_database_to_decide_once) {
  auto one = arriving_at(phase);
  ASSERT_TRUE(knows_places(db));
  ASSERT_TRUE(soon([&] { return permits("alone") == 0; })) << "an edit removes what the arrival there left";
  const auto edits = faults.count("edit");
  for (int second = 0; second < 8; ++second) advance(1s);
  EXPECT_EQ(faults.count("edit"), edits) << "it only reads";
  auto two = arriving_at(there);
  ASSERT_TRUE(soon([&] { return is_over(one) && is_over(two); }));
}

}  // namespace
}  // namespace rowlock::test
