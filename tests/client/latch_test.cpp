#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

std::future<void> waiting_at(latch& at) {
  return in_background([&at] { at.wait(); });
}
bool is_over(const std::future<void>& waiting) {
  return waiting.wait_for(0s) == std::future_status::ready;
}

class latch_test : public client_test {
 protected:
  client db = new_client();
  client other = new_client();
  latch ready{db, "ready", 3};
  latch same{other, "ready", 3};
};

TEST_P(latch_test, opens_when_all_were_counted) {
  EXPECT_EQ(ready.remaining(), 3);
  ready.count_down();
  EXPECT_EQ(same.remaining(), 2);
  EXPECT_FALSE(same.try_wait());
  EXPECT_FALSE(same.wait_for(20ms));
  same.count_down(2);
  EXPECT_TRUE(ready.try_wait());
  ready.wait();
  EXPECT_TRUE(same.wait_for(0s)) << "also for those who come late";
  EXPECT_EQ(ready.remaining(), 0);
}

TEST_P(latch_test, wakes_all_who_wait_in_every_process) {
  auto one = waiting_at(ready);
  auto two = waiting_at(ready);
  auto three = waiting_at(same);
  ASSERT_TRUE(eventually([&] { return queued("ready") == 3; }));
  ready.count_down(2);
  EXPECT_EQ(queued("ready"), 3U);
  ready.count_down();
  one.get();
  two.get();
  three.get();
  EXPECT_EQ(queued("ready"), 0U);
}

TEST_P(latch_test, more_may_wait_than_are_read_at_once) {
  latch gate{db, "gate", 1};
  std::vector<std::future<void>> crowd;
  for (std::size_t i = 0; i < store::queue_window + 6; ++i) crowd.push_back(waiting_at(gate));
  ASSERT_TRUE(eventually([&] { return queued("gate") == store::queue_window + 6; }));
  gate.count_down();
  for (auto& one : crowd) one.get();
  EXPECT_TRUE(eventually([&] { return queued("gate") == 0; }));
}

TEST_P(latch_test, all_arrive_and_wait) {
  auto one = in_background([&] { ready.arrive_and_wait(); });
  auto two = in_background([&] { same.arrive_and_wait(); });
  ASSERT_TRUE(eventually([&] { return queued("ready") == 2; }));
  ready.arrive_and_wait();
  one.get();
  two.get();
}

TEST_P(latch_test, below_zero_is_refused_and_counts_nothing) {
  ready.count_down(2);
  EXPECT_EQ(code_of([&] { ready.count_down(2); }), errc::invalid_argument);
  EXPECT_EQ(ready.remaining(), 1);
  ready.count_down();
  EXPECT_EQ(code_of([&] { same.count_down(); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { ready.count_down(0); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { latch(db, "x", 0); }), errc::invalid_argument);
}

TEST_P(latch_test, what_was_counted_outlives_its_client) {
  std::optional<client> gone = new_client();
  latch(*gone, "ready", 3).count_down(2);
  gone.reset();
  admin{db}.sweep();
  EXPECT_EQ(ready.remaining(), 1);
  ready.count_down();
  EXPECT_TRUE(ready.try_wait());
}

TEST_P(latch_test, who_gives_up_leaves_nothing) {
  EXPECT_FALSE(ready.wait_for(20ms));
  std::stop_source stop;
  auto stopped = in_background([&] { return code_of([&] { ready.wait(stop.get_token()); }); });
  ASSERT_TRUE(eventually([&] { return queued("ready") == 1; }));
  stop.request_stop();
  EXPECT_EQ(stopped.get(), errc::cancelled);
  EXPECT_TRUE(eventually([&] { return queued("ready") == 0; }));
}

TEST_P(latch_test, a_waiter_that_died_is_in_nobodys_way) {
  auto waits = waiting_at(same);
  ASSERT_TRUE(eventually([&] { return queued("ready") == 1; }));
  kill(side().queue("ready").at(0).lease.id);
  ready.count_down(3);
  EXPECT_TRUE(eventually([&] { return queued("ready") == 0; }));
  waits.get();
}

TEST_P(latch_test, another_count_or_kind_is_refused) {
  ready.count_down();
  EXPECT_EQ(code_of([&] { latch(other, "ready", 4).count_down(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = latch(other, "ready", 4).try_wait(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { latch(other, "ready", 4).wait(); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "ready").acquire(); }), errc::mismatch);
  mutex(db, "m").acquire().release();
  EXPECT_EQ(code_of([&] { latch(db, "m", 1).count_down(); }), errc::mismatch);
}

TEST_P(latch_test, is_collected_only_when_it_was_reset) {
  ready.count_down(3);
  fixture().age("ready", 2h);
  EXPECT_EQ(admin{db}.collect(1h), 0);
  EXPECT_TRUE(same.try_wait());
  ready.reset();
  EXPECT_EQ(same.remaining(), 3);
  EXPECT_FALSE(same.try_wait());
  fixture().age("ready", 2h);
  EXPECT_EQ(admin{db}.collect(1h), 1);
}

TEST_P(latch_test, reset_keeps_those_who_wait) {
  ready.count_down(2);
  auto waits = waiting_at(same);
  ASSERT_TRUE(eventually([&] { return queued("ready") == 1; }));
  ready.reset();
  ready.count_down(2);
  EXPECT_EQ(queued("ready"), 1U);
  ready.count_down();
  waits.get();
}

ROWLOCK_FOR_EACH_STORE(latch_test);

// Counts whose answers are lost.
class latch_doubt_test : public virtual_client_test {
 protected:
  client db = new_client();
  latch ready{db, "ready", 3};
};

TEST_F(latch_doubt_test, a_count_whose_answer_was_lost_counts_once) {
  ready.count_down();
  faults.lose_answer("edit");
  ready.count_down();
  EXPECT_EQ(ready.remaining(), 1) << "I7";
  faults.lose_request("edit");
  ready.count_down();
  EXPECT_TRUE(ready.try_wait());
}

TEST_F(latch_doubt_test, a_wait_whose_answer_was_lost_is_one_place) {
  ready.count_down(2);
  faults.lose_answer("edit");
  auto waits = waiting_at(ready);
  ASSERT_TRUE(soon([&] { return queued("ready") == 1 && faults.count("edit") >= 3; }));
  ready.count_down();
  ASSERT_TRUE(soon([&] { return is_over(waits); }));
  EXPECT_EQ(queued("ready"), 0U);
}

TEST_F(latch_doubt_test, a_wait_outlives_the_lease_it_began_with) {
  auto waits = waiting_at(ready);
  ASSERT_TRUE(soon([&] { return queued("ready") == 1; }));
  faults.cut(true);
  advance(31s);
  faults.cut(false);
  ASSERT_TRUE(soon([&] { return leases() == 1 && queued("ready") == 1; }));
  ready.count_down(3);
  ASSERT_TRUE(soon([&] { return is_over(waits); }));
}

TEST_F(latch_doubt_test, who_waits_asks_the_database_to_decide_once) {
  auto waits = waiting_at(ready);
  ASSERT_TRUE(soon([&] { return queued("ready") == 1; }));
  const auto edits = faults.count("edit");
  for (int second = 0; second < 8; ++second) advance(1s);
  EXPECT_EQ(faults.count("edit"), edits) << "it only reads";
  ready.count_down(3);
  ASSERT_TRUE(soon([&] { return is_over(waits); }));
}

TEST_F(latch_doubt_test, a_wait_that_begins_in_an_outage_outlasts_it) {
  ready.count_down(2);
  faults.cut(true);
  auto waits = in_background([&] { ready.wait(); });
  for (int i = 0; i < 8; ++i) advance(1s);
  faults.cut(false);
  EXPECT_TRUE(soon([&] { return queued("ready") == 1 || waits.wait_for(0s) == std::future_status::ready; }));
  ready.count_down();
  EXPECT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
  EXPECT_NO_THROW(waits.get());
}

TEST_F(latch_doubt_test, a_wait_in_silence_fails_if_it_was_long_enough_and_nothing_was_answered) {
  ready.count_down();
  mutex(db, "lease").acquire().release();
  struct silence {
    const char* from;
    std::chrono::milliseconds limit;
    bool fails;
  };
  for (const auto& [from, limit, fails] :
       {silence{"find", 2s, true}, silence{"find", 700ms, false}, silence{"edit", 2s, false}}) {
    faults.hang(from);
    auto waits = in_background([this, timeout = limit]() -> std::optional<errc> {
      try {
        EXPECT_FALSE(ready.wait_for(timeout));
        return {};
      } catch (const error& failure) {
        return failure.kind();
      }
    });
    ASSERT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
    EXPECT_EQ(waits.get(), fails ? std::optional{errc::unreachable} : std::nullopt) << from;
    server->unblock();
  }
}

// The first part of the call is interrupted shortly before the call's limit.
TEST_F(latch_doubt_test, a_wait_in_silence_fails_with_the_whole_of_its_limit) {
  ready.count_down();
  mutex(db, "lease").acquire().release();
  const auto limit = calm().statement_timeout + 1s;
  faults.hang("find");
  faults.hang("edit");
  auto waits = in_background([&] {
    try {
      return std::string{ready.wait_for(limit) ? "it is open" : "it is not open"};
    } catch (const error& failure) {
      return std::string{failure.what()};
    }
  });
  ASSERT_TRUE(soon([&] { return waits.wait_for(0s) == std::future_status::ready; }));
  EXPECT_THAT(waits.get(), testing::HasSubstr(std::to_string(limit.count()) + " ms"));
  server->unblock();
}

TEST_F(latch_doubt_test, a_client_that_only_reads_counts_nothing) {
  ready.count_down();
  auto settings = calm();
  settings.read_only = true;
  latch seen{new_client(settings), "ready", 3};
  EXPECT_EQ(code_of([&] { seen.count_down(); }), errc::read_only);
  EXPECT_EQ(code_of([&] { seen.arrive_and_wait(); }), errc::read_only);
  EXPECT_EQ(code_of([&] { seen.reset(); }), errc::read_only);
  EXPECT_EQ(seen.remaining(), 2);
}

TEST_F(latch_doubt_test, a_count_that_may_have_happened_says_so_whatever_failed_later) {
  ready.count_down();
  faults.cut_after(1);
  auto counts = in_background([&] {
    try {
      ready.count_down();
      return false;
    } catch (const error& failure) {
      return failure.outcome_unknown();
    }
  });
  ASSERT_TRUE(soon([&] { return counts.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(counts.get());
  faults.cut(false);
}

// Two attempts of one count, with something between them.
class latch_retry_test : public virtual_client_test {
 protected:
  latch_retry_test() {
    same.count_down();  // makes the latch exist
    same.reset();
  }

  // The next edit loses its answer, the one after it hangs.
  void lose_answer_and_hang() {
    faults.lose_answer("edit");
    faults.hang("edit", 1);
  }
  // The error that the call threw.
  std::optional<error> count_down_around(const std::function<void()>& between) {
    auto counts = in_background([this]() -> std::optional<error> {
      try {
        ready.count_down();
        return {};
      } catch (const error& failure) {
        return failure;
      }
    });
    EXPECT_TRUE(soon([&] { return server->blocked() == 1; }));
    between();
    server->unblock();
    return counts.get();
  }

  client db = new_client();
  client other = new_client();
  latch ready{db, "ready", 3};
  latch same{other, "ready", 3};
};

TEST_F(latch_retry_test, a_count_that_may_have_come_before_a_reset_is_not_made_again) {
  same.count_down(2);
  lose_answer_and_hang();
  const auto failure = count_down_around([&] {
    EXPECT_TRUE(same.try_wait());
    same.reset();
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), errc::unreachable);
  EXPECT_TRUE(failure->outcome_unknown());
  EXPECT_EQ(same.remaining(), 3) << "nothing is counted in the new round";
}

TEST_F(latch_retry_test, a_count_before_a_reset_is_not_made_again_among_the_next_rounds_counts) {
  lose_answer_and_hang();
  const auto failure = count_down_around([&] {
    same.reset();
    same.count_down();
  });
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->outcome_unknown());
  EXPECT_EQ(same.remaining(), 2);
}

TEST_F(latch_retry_test, a_count_that_never_reached_the_server_is_made_after_a_reset) {
  faults.lose_request("edit");
  faults.hang("edit");  // the next edit
  EXPECT_FALSE(count_down_around([&] {
    same.count_down(3);
    same.reset();
  }));
  EXPECT_EQ(same.remaining(), 2);
}

// The edit that opens a latch tells the waiters that it has read; a sweep, which the lost answer prevents, would tell
// the others.
TEST_F(latch_retry_test, an_open_latch_leaves_nobody_in_a_long_queue) {
  constexpr auto many = store::queue_window + 6;
  latch gate{db, "gate", 1};
  std::vector<std::future<void>> crowd;
  for (std::size_t i = 0; i < many; ++i) crowd.push_back(waiting_at(gate));
  ASSERT_TRUE(soon([&] { return queued("gate") == many && knows_places(db, many); }));
  faults.lose_answer("edit");
  auto counts = in_background([&] { gate.count_down(); });
  EXPECT_TRUE(soon([&] { return queued("gate") == 0; }));
  if (queued("gate") > 0) db.close();
  counts.get();
  for (auto& one : crowd) EXPECT_NO_THROW(one.get());
}

TEST_F(latch_retry_test, a_count_is_made_again_among_those_of_others) {
  lose_answer_and_hang();
  EXPECT_FALSE(count_down_around([&] { same.count_down(); }));
  EXPECT_EQ(same.remaining(), 1);
}

}  // namespace
}  // namespace rowlock::test
