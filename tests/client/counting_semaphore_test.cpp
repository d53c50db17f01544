#include "client/client_test.hpp"

#include "support/background.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace rowlock::test {
namespace {

class counting_semaphore_test : public client_test {
 protected:
  // Waits on a thread of its own; returns when the request stands in the queue.
  std::future<hold> enqueue(client on, std::int64_t permits, std::int64_t capacity = 4) {
    const auto before = queued("a");
    auto result = in_background(
        [on, permits, capacity] { return counting_semaphore(on, "a", capacity).acquire(permits); });
    EXPECT_TRUE(eventually([&] { return queued("a") == before + 1; }));
    return result;
  }

  client db = new_client();
  client other = new_client();
  counting_semaphore gpus{db, "a", 4};
};

TEST_P(counting_semaphore_test, gives_as_many_as_there_are) {
  EXPECT_EQ(gpus.available(), 4);
  hold one = gpus.acquire();
  EXPECT_EQ(one.weight(), 1);
  hold two = counting_semaphore(other, "a", 4).acquire(3);
  EXPECT_EQ(two.weight(), 3);
  EXPECT_GT(two.token(), one.token());
  EXPECT_EQ(gpus.available(), 0);
  EXPECT_FALSE(gpus.try_acquire());
  EXPECT_EQ(two.release(), release_result::released);
  EXPECT_EQ(gpus.available(), 3);
  EXPECT_FALSE(gpus.try_acquire(4));
  const hold three = gpus.try_acquire(3);
  EXPECT_TRUE(three);
  EXPECT_FALSE(gpus.try_acquire_for(20ms));
  EXPECT_TRUE(eventually([&] { return queued("a") == 0; })) << "nothing of it remains";
  EXPECT_EQ(gpus.available(), 0);
}

TEST_P(counting_semaphore_test, a_large_request_is_not_starved_by_small_ones) {
  hold one = gpus.acquire(2);
  hold two = gpus.acquire(2);
  auto large = enqueue(other, 3);
  auto small = enqueue(db, 1);
  EXPECT_FALSE(gpus.try_acquire(1));
  one.release();
  EXPECT_EQ(queued("a"), 2U) << "though the small one would fit";
  two.release();
  EXPECT_EQ(large.get().weight(), 3);
  EXPECT_TRUE(small.get());
}

TEST_P(counting_semaphore_test, a_release_grants_all_that_fit) {
  auto held = std::make_optional(gpus.acquire(4));
  auto one = enqueue(db, 1);
  auto two = enqueue(other, 2);
  auto three = enqueue(other, 2);
  held.reset();
  auto first = one.get();
  auto second = two.get();
  EXPECT_EQ(queued("a"), 1U);
  first.release();
  EXPECT_TRUE(three.get());
}

TEST_P(counting_semaphore_test, what_the_dead_had_comes_back) {
  const hold lost = gpus.acquire(4);
  kill(side().show("a").value().holders.at(0).lease.id);
  EXPECT_EQ(counting_semaphore(other, "a", 4).try_acquire(4).weight(), 4);
}

TEST_P(counting_semaphore_test, who_waits_kills_those_who_have_expired) {
  const hold lost = gpus.acquire(3);
  auto waiting = enqueue(other, 2);
  fixture().expire(side().show("a").value().holders.at(0).lease.id);
  EXPECT_TRUE(waiting.get());
}

TEST_P(counting_semaphore_test, drain_takes_all_that_is_free) {
  const hold one = gpus.acquire(1);
  auto rest = gpus.drain();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest.weight(), 3);
  EXPECT_FALSE(gpus.drain());
  auto waiting = enqueue(other, 2);
  EXPECT_EQ(rest.release(), release_result::released);
  const hold got = waiting.get();
  auto large = enqueue(other, 4);
  EXPECT_FALSE(gpus.drain()) << "somebody waits";
  EXPECT_EQ(gpus.available(), 1);
  const_cast<hold&>(one).release();
  const_cast<hold&>(got).release();
  EXPECT_TRUE(large.get());
}

TEST_P(counting_semaphore_test, drain_for_a_time_knows_how_much_it_has) {
  counting_semaphore slots{db, "s", 5};
  const hold two = slots.acquire(2);
  const auto rest = slots.drain({.ttl = 30s});
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest.weight(), 3);
}

TEST_P(counting_semaphore_test, resize_grants_what_has_become_free) {
  const hold one = gpus.acquire(4);
  auto waiting = enqueue(other, 2);
  gpus.resize(6);
  EXPECT_EQ(gpus.capacity(), 6);
  const hold got = waiting.get();
  EXPECT_EQ(got.weight(), 2);
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 4).try_acquire(); }), errc::mismatch);
}

TEST_P(counting_semaphore_test, resize_below_what_is_in_use_takes_nothing) {
  hold one = gpus.acquire(3);
  auto large = enqueue(other, 4);
  gpus.resize(2);
  EXPECT_TRUE(one);
  EXPECT_EQ(gpus.available(), 0);
  EXPECT_EQ(code_of([&] { std::ignore = large.get(); }), errc::mismatch) << "it can never be granted";
  EXPECT_FALSE(gpus.try_acquire());
  one.release();
  EXPECT_EQ(gpus.available(), 2);
}

TEST_P(counting_semaphore_test, resize_of_a_new_name_makes_it) {
  counting_semaphore fresh{db, "new", 1};
  fresh.resize(3);
  EXPECT_EQ(fresh.acquire(3).weight(), 3);
  EXPECT_EQ(side().show("new").value().row.capacity, 3);
}

TEST_P(counting_semaphore_test, resize_by_adds_to_what_is_stored_and_grants_waiters) {
  const hold one = gpus.acquire(4);
  auto waiting = enqueue(other, 2);
  EXPECT_EQ(gpus.resize_by(2), 6);
  EXPECT_EQ(gpus.capacity(), 6);
  EXPECT_EQ(waiting.get().weight(), 2);
  counting_semaphore stale{other, "a", 4};
  EXPECT_EQ(stale.resize_by(-3), 3) << "from the stored capacity, whatever this object expected";
  EXPECT_EQ(stale.capacity(), 3);
  EXPECT_EQ(side().show("a").value().row.capacity, 3);
  EXPECT_EQ(stale.resize_by(0), 3);
  EXPECT_EQ(counting_semaphore(db, "new", 2).resize_by(1), 3)
      << "a new name begins with the object's capacity";
}

TEST_P(counting_semaphore_test, resize_by_of_several_at_once_counts_them_all) {
  counting_semaphore elsewhere{other, "a", 4};
  {
    std::vector<std::jthread> callers;
    for (auto* one : {&gpus, &gpus, &elsewhere, &elsewhere}) {
      callers.emplace_back([one] {
        for (int i = 0; i < 3; ++i) one->resize_by(i == 1 ? -1 : 2);
      });
    }
  }
  EXPECT_EQ(side().show("a").value().row.capacity, 4 + 4 * 3);
  EXPECT_EQ(std::max(gpus.capacity(), elsewhere.capacity()), 16) << "the last one knows";
}

TEST_P(counting_semaphore_test, resize_by_to_what_is_no_capacity_changes_nothing) {
  for (const std::int64_t difference :
       {std::int64_t{-4}, std::int64_t{1'000'000'000 - 3}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(code_of([&] { gpus.resize_by(difference); }), errc::invalid_argument);
  }
  EXPECT_EQ(gpus.capacity(), 4);
  EXPECT_EQ(gpus.available(), 4);
  mutex(db, "m").acquire().release();
  EXPECT_EQ(code_of([&] { counting_semaphore(db, "m", 1).resize_by(1); }), errc::mismatch);
}

TEST_P(counting_semaphore_test, a_part_that_is_given_back_goes_to_waiters_and_the_rest_stays) {
  hold held = gpus.acquire(4);
  const auto token = held.token();
  const auto id = held.id();
  auto one = enqueue(other, 2);
  auto two = enqueue(other, 1);
  gpus.release(held, 3);
  EXPECT_TRUE(held);
  EXPECT_EQ(held.weight(), 1);
  EXPECT_EQ(held.token(), token);
  EXPECT_EQ(held.id(), id);
  EXPECT_EQ(side().show("a").value().row.in_use, 4) << "the waiters were granted in the same commit";
  hold first = one.get();
  hold second = two.get();
  EXPECT_GT(first.token(), token);
  EXPECT_EQ(gpus.available(), 0);
  first.release();
  second.release();
  EXPECT_EQ(gpus.available(), 3);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(gpus.available(), 4);
}

TEST_P(counting_semaphore_test, one_permit_after_the_other_can_be_given_back) {
  hold held = gpus.acquire(3, {.ttl = 1h});
  for (const std::int64_t left : {2, 1}) {
    gpus.release(held, 1);
    EXPECT_EQ(held.weight(), left);
    EXPECT_EQ(gpus.available(), 4 - left);
  }
  EXPECT_EQ(side().show("a").value().holders.at(0).lease.ttl, 1h) << "its lease is the same";
  EXPECT_EQ(code_of([&] { gpus.release(held, 1); }), errc::invalid_argument)
      << "the last one: release the hold";
  EXPECT_TRUE(held);
}

TEST_P(counting_semaphore_test, a_part_of_what_is_not_held_is_not_given_back) {
  hold held = gpus.acquire(3);
  for (const std::int64_t permits : {-1, 0, 3, 4}) {
    EXPECT_EQ(code_of([&] { gpus.release(held, permits); }), errc::invalid_argument);
  }
  hold nothing;
  EXPECT_EQ(code_of([&] { gpus.release(nothing, 1); }), errc::invalid_argument);
  counting_semaphore elsewhere{other, "a", 4};
  EXPECT_EQ(code_of([&] { elsewhere.release(held, 1); }), errc::invalid_argument);
  hold of_another_kind = shared_mutex(db, "b").acquire();
  EXPECT_EQ(code_of([&] { counting_semaphore(db, "b", 4).release(of_another_kind, 1); }),
            errc::invalid_argument);
  EXPECT_TRUE(of_another_kind);
  EXPECT_EQ(gpus.available(), 1);
  admin{other}.release("a");
  EXPECT_EQ(code_of([&] { gpus.release(held, 1); }), errc::hold_lost);
  hold over = gpus.acquire(3);
  over.release();
  EXPECT_EQ(code_of([&] { gpus.release(over, 1); }), errc::hold_lost);
  EXPECT_EQ(gpus.available(), 4);
}

TEST_P(counting_semaphore_test, another_capacity_or_kind_is_refused) {
  const hold one = gpus.acquire();
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 5).acquire(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 5).try_acquire(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(other, "a", 5).available(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire(); }), errc::mismatch);
  mutex(db, "m").acquire().release();
  EXPECT_EQ(code_of([&] { std::ignore = counting_semaphore(db, "m", 1).acquire(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { counting_semaphore(db, "m", 1).resize(2); }), errc::mismatch);
}

TEST_P(counting_semaphore_test, impossible_numbers_are_refused) {
  EXPECT_EQ(code_of([&] { std::ignore = gpus.acquire(0); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = gpus.try_acquire(5); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { counting_semaphore(db, "b", 0); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { gpus.resize(-1); }), errc::invalid_argument);
}

TEST_P(counting_semaphore_test, an_explicit_ttl_carries_a_permit) {
  hold held = gpus.acquire(2, {.ttl = 20s});
  EXPECT_EQ(held.weight(), 2);
  EXPECT_LE(held.remaining(), 20s);
  EXPECT_EQ(side().show("a").value().holders.at(0).lease.ttl, 20s);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(gpus.available(), 4);
}

TEST_P(counting_semaphore_test, permits_whose_ttl_has_ended_go_to_others_and_their_release_is_lost) {
  hold over = gpus.acquire(4, {.ttl = 300ms});
  counting_semaphore elsewhere{other, "a", 4};
  hold next;
  EXPECT_TRUE(eventually([&] { return (next = elsewhere.try_acquire(3)).valid(); }));
  EXPECT_EQ(over.loss(), loss::expired);
  EXPECT_EQ(over.release(), release_result::lost);
  EXPECT_EQ(gpus.available(), 1) << "nothing was given back twice";
}

TEST_P(counting_semaphore_test, a_second_release_gives_nothing_back) {
  hold first = gpus.acquire(2);
  const hold second = gpus.acquire(2);
  EXPECT_EQ(first.release(), release_result::released);
  EXPECT_EQ(first.release(), release_result::released) << "says what the first one did";
  EXPECT_EQ(gpus.available(), 2);
}

TEST_P(counting_semaphore_test, many_threads_never_have_more_than_there_are) {
  std::atomic<std::int64_t> inside = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 6; ++i) {
      workers.emplace_back([&, on = i % 2 == 0 ? db : other, permits = 1 + i % 3] {
        counting_semaphore wanted{on, "a", 4};
        for (int round = 0; round < 5; ++round) {
          hold held = wanted.acquire(permits);
          EXPECT_LE(inside += permits, 4);
          std::ignore = wanted.available();  // takes a round trip, so that others can come in between
          if (permits > 1) {
            inside -= permits - 1;
            wanted.release(held, permits - 1);
          }
          inside -= 1;
        }
      });
    }
  }
  EXPECT_EQ(gpus.available(), 4);
}

ROWLOCK_FOR_EACH_STORE(counting_semaphore_test);

class semaphore_doubt_test : public virtual_client_test {
 protected:
  // Makes a call that repeats its request, and lets time pass meanwhile.
  template <class Call>
  auto run(Call call) {
    auto made = in_background(call);
    EXPECT_TRUE(soon([&] { return made.wait_for(0s) == std::future_status::ready; }));
    return made.get();
  }
  model::lock_row row() const { return server->snapshot().locks.at("a").row; }
  // Whether the call throws an error with outcome_unknown().
  static bool is_in_doubt(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& failure) {
      return failure.outcome_unknown();
    }
    return false;
  }

  client db = new_client();
  counting_semaphore gpus{db, "a", 8};
};

// The edit grants to the waiters that it reads; the sweep for the rest is sent after the answer.
TEST_F(semaphore_doubt_test, a_resize_that_is_repeated_after_a_lost_answer_grants_to_all) {
  constexpr auto many = store::queue_window + 8;
  counting_semaphore narrow{db, "b", 1};
  const hold held = narrow.acquire();
  std::vector<std::future<hold>> crowd;
  for (std::size_t i = 0; i < many; ++i) crowd.push_back(in_background([&] { return narrow.acquire(); }));
  ASSERT_TRUE(soon([&] { return queued("b") == many && knows_places(db, many); }));
  faults.lose_answer("edit");
  EXPECT_TRUE(run([&] { return is_in_doubt([&] { narrow.resize(100); }); }));
  auto resize = in_background([&] { narrow.resize(100); });
  const auto is_over = [](const auto& one) { return one.wait_for(0s) == std::future_status::ready; };
  const bool all_are = soon([&] { return is_over(resize) && std::ranges::all_of(crowd, is_over); });
  EXPECT_TRUE(all_are) << queued("b") << " still wait";
  if (!all_are) db.close();  // so that nobody waits for ever
  for (auto& one : crowd) EXPECT_NO_THROW(EXPECT_TRUE(one.get()));
  resize.get();
}

TEST_F(semaphore_doubt_test, a_part_whose_answer_was_lost_is_given_back_once) {
  hold held = gpus.acquire(6);
  faults.lose_answer("edit");
  run([&] { gpus.release(held, 2); });
  EXPECT_EQ(held.weight(), 4);
  EXPECT_EQ(row().in_use, 4);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(row().in_use, 0);
}

TEST_F(semaphore_doubt_test, what_is_committed_is_done_even_if_nobody_can_be_woken) {
  client rival = new_client();
  hold held = gpus.acquire(8);
  auto waiter = in_background([&] { return counting_semaphore(rival, "a", 8).acquire(); });
  ASSERT_TRUE(soon([&] { return queued("a") == 1; }));
  faults.deny("send_wakeups");
  gpus.release(held, 2);
  EXPECT_EQ(held.weight(), 6);
  ASSERT_TRUE(soon([&] { return waiter.wait_for(0s) == std::future_status::ready; })) << "it looks by itself";
  EXPECT_TRUE(waiter.get());
}

// The poll makes up for the wake-up.
TEST_F(semaphore_doubt_test, a_difference_is_added_although_the_connection_breaks_after_the_commit) {
  client rival = new_client();
  const hold held = gpus.acquire(8);
  auto waiter = in_background([&] { return counting_semaphore(rival, "a", 8).acquire(); });
  ASSERT_TRUE(soon([&] { return queued("a") == 1; }));
  faults.lose_request("send_wakeups");
  EXPECT_EQ(run([&] { return gpus.resize_by(1); }), 9);
  EXPECT_EQ(row().capacity, 9);
  ASSERT_TRUE(soon([&] { return waiter.wait_for(0s) == std::future_status::ready; }));
}

TEST_F(semaphore_doubt_test, a_part_that_stays_in_doubt_is_free_at_the_latest_with_the_hold) {
  for (const bool happens : {true, false}) {
    hold held = gpus.acquire(6);
    happens ? faults.lose_answer("edit", 100'000) : faults.lose_request("edit", 100'000);
    faults.lose_request("show", 100'000);
    EXPECT_TRUE(run([&] { return is_in_doubt([&] { gpus.release(held, 2); }); }));
    faults.forget();
    EXPECT_TRUE(held);
    EXPECT_EQ(held.weight(), 4) << "whatever was done, it has that many";
    EXPECT_EQ(row().in_use, happens ? 4 : 6);
    run([&] { gpus.release(held, 1); });
    EXPECT_EQ(row().in_use, 3) << "a later call gives back what the first one may not have";
    EXPECT_EQ(run([&] { return held.release(); }), release_result::released);
    EXPECT_EQ(row().in_use, 0);
  }
}

TEST_F(semaphore_doubt_test, a_difference_whose_answer_was_lost_is_added_once_and_not_repeated) {
  gpus.acquire().release();
  faults.lose_answer("edit");
  EXPECT_TRUE(run([&] { return is_in_doubt([&] { gpus.resize_by(2); }); }));
  EXPECT_EQ(row().capacity, 10);
  EXPECT_EQ(gpus.capacity(), 8) << "it does not know";
  EXPECT_EQ(run([&] { return gpus.resize_by(1); }), 11);
}

}  // namespace
}  // namespace rowlock::test
