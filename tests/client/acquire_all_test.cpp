#include "client/client_test.hpp"
#include "primitives/access.hpp"

#include "support/background.hpp"

#include <algorithm>

namespace rowlock::test {
namespace {

using testing::Each;
using testing::ElementsAre;

class acquire_all_test : public client_test {
 protected:
  // Acquires on a thread of its own, which is stopped if the test ends first.
  auto asking(std::vector<wanted> locks) {
    return in_background([this, locks = std::move(locks)] {
      return try_acquire_all_for(1h, locks, {.stop = stop_.get_token()});
    });
  }
  ~acquire_all_test() override { stop_.request_stop(); }
  std::size_t holders(const std::string& name) {
    const auto info = side().show(name);
    return info ? info->holders.size() : 0;
  }

  client db = new_client();
  client other = new_client();
  mutex a{db, "a"}, b{db, "b"}, c{db, "c"};

 private:
  std::stop_source stop_;
};

TEST_P(acquire_all_test, takes_locks_of_every_kind_and_tells_them_in_the_order_asked) {
  shared_mutex rates{db, "rates"};
  counting_semaphore slots{db, "slots", 8};
  auto all = try_acquire_all({b, permits(slots, 3), a, shared(rates)});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name(), "b");
  EXPECT_EQ(all[1].name(), "slots");
  EXPECT_EQ(all[2].name(), "a");
  EXPECT_EQ(all[3].name(), "rates");
  EXPECT_EQ(all[1].weight(), 3);
  EXPECT_EQ(all[3].weight(), 1);
  for (const auto& one : all) {
    EXPECT_EQ(holder_of(one.name()), one.id().to_string());
    EXPECT_EQ(token_of(one.name()), one.token());
  }
  EXPECT_TRUE(shared_mutex(other, "rates").try_acquire_shared());
  EXPECT_FALSE(shared_mutex(other, "rates").try_acquire());
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  EXPECT_FALSE(counting_semaphore(other, "slots", 8).try_acquire(6));
  EXPECT_THAT(all.release(), ElementsAre(release_result::released, release_result::released,
                                         release_result::released, release_result::released));
  EXPECT_FALSE(all);
  for (const auto* name : {"a", "b", "rates", "slots"}) EXPECT_EQ(holders(name), 0U) << name;
}

TEST_P(acquire_all_test, takes_nothing_when_one_is_held) {
  std::ignore = acquire_all({a, b, c});
  const auto token = token_of("a");
  const auto held = mutex(other, "c").acquire();
  EXPECT_FALSE(try_acquire_all({a, b, c}));
  EXPECT_EQ(token_of("a"), token) << "it was never granted";
  EXPECT_FALSE(is_held("a"));
  EXPECT_FALSE(is_held("b"));
  EXPECT_EQ(holder_of("c"), held.id().to_string());
}

TEST_P(acquire_all_test, says_the_same_when_it_is_released_again) {
  mutex one{db, "one"};
  mutex two{db, "two"};
  auto held = acquire_all({one, two});
  fixture().expire(lease_of("one"));
  admin{other}.sweep();
  const auto first = held.release();
  EXPECT_EQ(held.release(), first);
  EXPECT_EQ(held.take(0).release(), first.at(0));
}

TEST_P(acquire_all_test, takes_nothing_when_one_is_waited_for) {
  shared_mutex read{db, "a"};
  hold reader = read.acquire_shared();
  auto writer = in_background([this] { return shared_mutex(other, "a").acquire(); });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  EXPECT_FALSE(try_acquire_all({b, shared(read)}));
  EXPECT_FALSE(is_held("b"));
  reader.release();
  EXPECT_TRUE(writer.get());
}

TEST_P(acquire_all_test, waits_in_the_order_of_the_names) {
  auto held = std::make_optional(mutex(other, "b").acquire());
  auto asked = asking({c, b, a});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  EXPECT_TRUE(is_held("a"));
  EXPECT_FALSE(is_held("c"));
  held.reset();
  const auto all = asked.get();
  ASSERT_TRUE(all);
  EXPECT_EQ(all[0].name(), "c");
  for (const auto& one : all) EXPECT_EQ(holder_of(one.name()), one.id().to_string());
}

TEST_P(acquire_all_test, leaves_nothing_when_the_time_is_up) {
  const auto held = mutex(other, "b").acquire();
  EXPECT_FALSE(try_acquire_all_for(50ms, {a, b, c}));
  EXPECT_TRUE(eventually([&] { return !is_held("a") && !is_held("c") && queued("b") == 0; }));
}

TEST_P(acquire_all_test, leaves_nothing_when_it_is_stopped) {
  const auto held = mutex(other, "b").acquire();
  std::stop_source stop;
  auto asked = in_background([&] {
    return code_of([&] { std::ignore = acquire_all({a, b, c}, {.stop = stop.get_token()}); });
  });
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  stop.request_stop();
  EXPECT_EQ(asked.get(), errc::cancelled);
  EXPECT_TRUE(eventually([&] { return !is_held("a") && queued("b") == 0; }));
}

TEST_P(acquire_all_test, begins_again_when_one_was_taken_away_meanwhile) {
  auto held = std::make_optional(mutex(other, "b").acquire());
  auto asked = asking({a, b});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  const auto token = token_of("a");
  admin(other).release("a");
  ASSERT_TRUE(eventually([&] { return db.stats().lost == 1; }));
  held.reset();
  const auto all = asked.get();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all);
  EXPECT_GT(all[0].token(), token);
  EXPECT_EQ(holder_of("a"), all[0].id().to_string());
}

TEST_P(acquire_all_test, takes_over_what_the_dead_and_the_expired_held) {
  const auto lost = mutex(other, "a").acquire();
  const auto also_lost = counting_semaphore(other, "slots", 2).acquire(2);
  fixture().expire(lease_of("a"));
  counting_semaphore slots{db, "slots", 2};
  EXPECT_TRUE(try_acquire_all({a, b, permits(slots)}));
}

TEST_P(acquire_all_test, callers_with_opposite_orders_do_not_wait_in_a_circle) {
  int inside = 0;
  int counted = 0;
  const int rounds = 12;
  const auto work = [&](const client& on, bool backwards) {
    mutex one{on, "a"}, two{on, "b"}, three{on, "c"};
    std::vector<wanted> locks{one, two, three};
    if (backwards) std::ranges::reverse(locks);
    for (int i = 0; i < rounds; ++i) {
      const auto all = acquire_all(locks);
      EXPECT_EQ(++inside, 1);
      ++counted;
      --inside;
    }
  };
  std::vector<std::jthread> threads;
  for (const bool backwards : {true, false}) {
    threads.emplace_back([&, backwards] { work(db, backwards); });
    threads.emplace_back([&, backwards] { work(other, backwards); });
  }
  threads.clear();
  EXPECT_EQ(counted, 4 * rounds);
}

TEST_P(acquire_all_test, refuses_what_cannot_be_right) {
  const mutex again{db, "a"};
  EXPECT_EQ(code_of([&] { std::ignore = try_acquire_all({a, again}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = try_acquire_all({}); }), errc::invalid_argument);
  const mutex elsewhere{other, "b"};
  EXPECT_EQ(code_of([&] { std::ignore = try_acquire_all({a, elsewhere}); }), errc::invalid_argument);
  const counting_semaphore slots{db, "slots", 2};
  EXPECT_EQ(code_of([&] { permits(slots, 3); }), errc::invalid_argument);
}

TEST_P(acquire_all_test, holds_nothing_when_one_is_another_lock) {
  counting_semaphore(other, "b", 3).acquire().release();
  EXPECT_EQ(code_of([&] { std::ignore = try_acquire_all({a, b}); }), errc::mismatch);
  EXPECT_EQ(code_of([&] { std::ignore = acquire_all({a, b}); }), errc::mismatch);
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
}

TEST_P(acquire_all_test, a_set_releases_what_was_not_moved_out_of_it) {
  hold kept;
  {
    auto all = acquire_all({a, b});
    kept = all.take(0);
    EXPECT_FALSE(all);
  }
  EXPECT_FALSE(is_held("b"));
  EXPECT_EQ(holder_of("a"), kept.id().to_string());
  EXPECT_TRUE(kept);
}

TEST_P(acquire_all_test, hands_what_it_gives_back_to_those_who_wait) {
  auto all = acquire_all({a, b});
  auto one = waiting(other, "a");
  auto two = waiting(other, "b");
  EXPECT_THAT(all.release(), Each(release_result::released));
  EXPECT_TRUE(one.take());
  EXPECT_TRUE(two.take());
}

TEST_P(acquire_all_test, with_a_ttl_each_has_a_lease_of_its_own) {
  shared_mutex rates{db, "rates"};
  counting_semaphore slots{db, "slots", 8};
  const hold plain = c.acquire();
  auto all = try_acquire_all({a, shared(rates), permits(slots, 3)}, {.ttl = 20s});
  ASSERT_TRUE(all);
  ASSERT_EQ(all.size(), 3U);
  for (const auto& one : all) {
    EXPECT_TRUE(one.valid());
    EXPECT_LE(one.remaining(), 20s);
    EXPECT_EQ(holder_of(one.name()), one.id().to_string());
    EXPECT_EQ(token_of(one.name()), one.token());
    EXPECT_NE(lease_of(one.name()), lease_of("c"));
    EXPECT_EQ(side().show(one.name())->holders.front().lease.client, lease_of("c"));
  }
  EXPECT_NE(lease_of("a"), lease_of("slots"));
  EXPECT_EQ(all[2].weight(), 3);
  const auto lease = lease_of("rates");
  EXPECT_THAT(all.release(), Each(release_result::released));
  EXPECT_FALSE(is_held("a"));
  EXPECT_TRUE(side().renew(std::vector{lease}).renewed.empty()) << "the lease has gone with it";
  EXPECT_TRUE(plain);
}

TEST_P(acquire_all_test, a_ttl_begins_when_all_are_granted) {
  auto held = std::make_optional(mutex(other, "b").acquire());
  auto asked = in_background([&] { return acquire_all({a, b}, {.ttl = 24h}); });
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  EXPECT_EQ(lease_of("a"), side().queue("b").front().waiter.lease) << "it stands on its client's lease";
  held.reset();
  const auto all = asked.get();
  ASSERT_TRUE(all);
  for (const auto& one : all) EXPECT_GT(one.remaining(), 23h);
}

TEST_P(acquire_all_test, with_a_ttl_all_are_lost_at_its_end) {
  const auto all = acquire_all({a, b}, {.ttl = 300ms});
  EXPECT_TRUE(eventually([&] { return all[0].loss() == loss::expired && all[1].loss() == loss::expired; }));
  EXPECT_TRUE(mutex(other, "a").try_acquire_for(20s));
}

TEST_P(acquire_all_test, all_rest_after_an_early_release_with_a_minimum_hold) {
  for (const bool has_ttl : {true, false}) {
    const std::string one = has_ttl ? "c" : "a", two = has_ttl ? "d" : "b";
    acquire_options how{.min_hold = 1h};
    if (has_ttl) how.ttl = 2h;
    auto all = try_acquire_all({mutex{db, one}, mutex{db, two}}, how);
    ASSERT_TRUE(all);
    EXPECT_THAT(all.release(), Each(release_result::released));
    EXPECT_FALSE(mutex(other, one).try_acquire());
    EXPECT_FALSE(mutex(other, two).try_acquire());
  }
}

TEST_P(acquire_all_test, what_is_given_back_without_the_rest_does_not_rest) {
  const auto held = mutex(other, "b").acquire();
  EXPECT_FALSE(try_acquire_all_for(50ms, {a, b}, {.min_hold = 1h}));
  EXPECT_TRUE(mutex(other, "a").try_acquire_for(20s));
}

TEST_P(acquire_all_test, finds_a_circle_with_what_its_thread_held_before) {
  const hold mine = c.acquire();
  std::promise<void> has_b;
  auto rival = in_background([&] {
    const hold b_there = mutex(other, "b").acquire();
    has_b.set_value();
    return mutex(other, "c").try_acquire_for(1h).valid();
  });
  has_b.get_future().wait();
  ASSERT_TRUE(eventually([&] { return queued("c") == 1; }));
  EXPECT_EQ(code_of([&] { std::ignore = acquire_all({a, b}, {.detect_deadlock = true}); }), errc::deadlock);
  EXPECT_TRUE(eventually([&] { return !is_held("a") && queued("b") == 0; }));
  admin(other).release("c");
  EXPECT_TRUE(rival.get());
}

TEST_P(acquire_all_test, refuses_impossible_times) {
  for (const acquire_options& how :
       {acquire_options{.ttl = 1ms}, acquire_options{.ttl = 1s, .min_hold = 2s}}) {
    EXPECT_EQ(code_of([&] { std::ignore = try_acquire_all({a, b}, how); }), errc::invalid_argument);
  }
  EXPECT_FALSE(side().show("a"));
}

ROWLOCK_FOR_EACH_STORE(acquire_all_test);

// By the statement with which the group begins: one for locks that are free, or an edit, for example because one of the
// locks was contended.
class acquire_all_doubt_test : public virtual_client_test, public testing::WithParamInterface<std::string> {
 protected:
  acquire_all_doubt_test() {
    std::ignore = acquire_all({a, b});
    if (first() == "edit") primitives::access::engine(db)->services().contended.add("a");
  }

  static std::string first() { return GetParam(); }

  fencing_token token(const std::string& name) const {
    return fencing_token{server->snapshot().locks.at(name).row.token};
  }
  bool all_are_free() const { return holder_of("a").empty() && holder_of("b").empty(); }

  // Expects that nothing remains of an edit whose caller is stopped while the edit hangs.
  void expect_nothing_left(bool happened) {
    std::stop_source stop;
    auto asked = in_background([&] { return try_acquire_all_for(1h, {a, b}, {.stop = stop.get_token()}); });
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    EXPECT_EQ(all_are_free(), !happened);
    stop.request_stop();
    EXPECT_FALSE(asked.get());
    const auto edits = faults.count("edit");
    server->unblock();
    EXPECT_TRUE(soon([&] { return faults.count("edit") > edits && all_are_free(); }));
  }

  client db = new_client();
  mutex a{db, "a"}, b{db, "b"};
};

TEST_P(acquire_all_doubt_test, costs_one_statement_and_one_release_whatever_the_number) {
  const auto edits = faults.count(first());
  const auto releases = faults.count("release");
  acquire_all({a, b}).release();
  EXPECT_EQ(faults.count(first()), edits + 1);
  EXPECT_EQ(faults.count("release"), releases + 1);
  EXPECT_TRUE(all_are_free());
}

TEST_P(acquire_all_doubt_test, an_edit_whose_answer_was_lost_is_one_grant_each) {
  const auto before = token("a");
  for (const bool sent : {true, false}) {
    sent ? faults.lose_answer(first()) : faults.lose_request(first());
    auto asked = in_background([&] { return acquire_all({a, b}); });
    ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    const auto all = asked.get();
    EXPECT_TRUE(all);
    EXPECT_EQ(token("a").value(), before.value() + (sent ? 1 : 2));
    EXPECT_EQ(all[0].token(), token("a"));
    EXPECT_EQ(all[1].token(), token("b"));
  }
}

// The call finds by the ids what was granted before it requests anything else: a second request for the same lock would
// wait behind the first one for ever.
TEST_P(acquire_all_doubt_test, an_edit_whose_answer_was_lost_does_not_wait_for_itself) {
  for (const std::string locked : {"a", "b"}) {
    const auto edits = faults.count(first());
    const auto finds = faults.count("find");
    faults.lose_answer(first());
    std::stop_source stop;
    auto asked = in_background([&] { return try_acquire_all_for(1h, {a, b}, {.stop = stop.get_token()}); });
    ASSERT_TRUE(eventually([&] { return faults.count(first()) > edits && !all_are_free(); }));
    server->lock_row(locked);  // as a rival's edit does, for a moment
    EXPECT_TRUE(soon([&] { return faults.count("find") > finds || faults.count(first()) > edits + 2; }));
    server->unlock_row(locked);
    EXPECT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    stop.request_stop();
    const auto all = asked.get();
    ASSERT_TRUE(all);
    EXPECT_TRUE(all);
    EXPECT_EQ(holder_of("a"), all[0].id().to_string());
    EXPECT_EQ(holder_of("b"), all[1].id().to_string());
    EXPECT_EQ(all[1].token(), token("b"));
  }
}

// If the call kept the other locks, it would hold them out of the order of the names.
TEST_P(acquire_all_doubt_test, what_was_taken_away_in_doubt_is_begun_anew) {
  client other = new_client();
  faults.lose_answer(first());
  auto asked = in_background([&] { return acquire_all({a, b}); });
  ASSERT_TRUE(eventually([&] { return !all_are_free(); }));
  const auto first = holder_of("b");
  auto rival = waiting(other, "a");
  ASSERT_TRUE(admin{other}.release("a"));
  auto taken = std::make_optional(rival.take());
  ASSERT_TRUE(soon([&] { return queued("a") == 1; }));
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); })) << "nothing is held out of order";
  taken.reset();
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(asked.get());
  EXPECT_NE(holder_of("b"), first);
}

TEST_P(acquire_all_doubt_test, an_edit_in_doubt_whose_caller_gave_up_leaves_nothing) {
  faults.lose_answer(first());
  faults.lose_request("find");
  auto asked = in_background([&] { return code_of([&] { std::ignore = try_acquire_all({a, b}); }); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(asked.get(), errc::unreachable);
  EXPECT_TRUE(soon([&] { return all_are_free(); }));
}

TEST_P(acquire_all_doubt_test, an_edit_that_happens_too_late_leaves_nothing) {
  faults.hang(first());
  expect_nothing_left(false);
}

TEST_P(acquire_all_doubt_test, an_edit_that_is_answered_too_late_leaves_nothing) {
  faults.hang_answer(first());
  expect_nothing_left(true);
}

// The attempt waits only a moment, because a rival's edit keeps a row no longer.
TEST_P(acquire_all_doubt_test, an_attempt_waits_a_moment_for_a_row_that_is_locked) {
  for (const bool comes_free : {true, false}) {
    server->lock_row("b");
    const auto edits = faults.count("edit");
    auto asked = in_background([&] { return try_acquire_all({a, b}); });
    ASSERT_TRUE(soon([&] { return faults.count("edit") > edits; }));
    if (comes_free) server->unlock_row("b");
    ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    EXPECT_EQ(static_cast<bool>(asked.get()), comes_free);
    server->unlock_row("b");
    EXPECT_TRUE(soon([&] { return all_are_free(); }));
  }
}

TEST_P(acquire_all_doubt_test, what_is_refused_for_good_is_not_repeated) {
  faults.deny(first());
  auto asked = in_background([&] { return code_of([&] { std::ignore = acquire_all({a, b}); }); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(asked.get(), errc::privilege);
  EXPECT_TRUE(acquire_all({a, b}));
}

TEST_P(acquire_all_doubt_test, waits_through_an_outage) {
  faults.cut(true);
  auto asked = in_background([&] { return acquire_all({a, b}); });
  ASSERT_TRUE(soon([&] { return faults.count("connect") >= 5; }));
  faults.cut(false);
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(asked.get());
}

TEST_P(acquire_all_doubt_test, an_outage_until_the_time_is_up_is_told_as_of_one_lock) {
  faults.cut(true);
  auto several = in_background([&] {
    return code_of([&] { std::ignore = try_acquire_all_for(10s, {a, b}); });
  });
  ASSERT_TRUE(soon([&] { return several.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(several.get(), errc::unreachable);
  auto one = in_background([&] { return code_of([&] { std::ignore = a.try_acquire_for(10s); }); });
  ASSERT_TRUE(soon([&] { return one.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(one.get(), errc::unreachable);
}

TEST_P(acquire_all_doubt_test, an_attempt_that_was_stopped_before_sends_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const auto edits = faults.count(first());
  for (int i = 0; i < 2000; ++i) EXPECT_FALSE(try_acquire_all({a, b}, {.stop = stop.get_token()}));
  EXPECT_FALSE(a.try_acquire({.stop = stop.get_token()}));
  acquire_all({a, b}).release();  // is sent after everything that the others sent
  EXPECT_EQ(faults.count(first()), edits + 1);
}

TEST_P(acquire_all_doubt_test, a_client_that_vanishes_while_it_waits_blocks_nobody_beyond_its_lease) {
  client other = new_client();
  auto held = std::make_optional(mutex(other, "b").acquire());
  auto settings = calm();
  settings.close_timeout = 10ms;
  auto vanishing = std::make_optional(new_client(settings));
  {
    const mutex one{*vanishing, "a"}, two{*vanishing, "b"};
    std::stop_source stop;
    auto asked = in_background([&] {
      return try_acquire_all_for(1h, {one, two}, {.stop = stop.get_token()});
    });
    ASSERT_TRUE(soon([&] { return queued("b") == 1; }));
    faults.cut(true);
    stop.request_stop();
    ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    EXPECT_FALSE(asked.get());
  }
  vanishing.reset();
  faults.cut(false);
  EXPECT_FALSE(holder_of("a").empty()) << "nobody could give it back";
  held.reset();
  auto after = in_background([&] {
    const mutex one{other, "a"}, two{other, "b"};
    return acquire_all({one, two});
  });
  ASSERT_TRUE(soon([&] { return after.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(after.get());
}

// A statement that the server executes after its connection has broken.
class acquire_all_ghost_test : public virtual_client_test {
 protected:
  acquire_all_ghost_test() {
    std::ignore = acquire_all({a, b});
    faults.leave_ghost("acquire_all");
  }

  const bool can_be_ended = (server->name_backends(), true);
  client db = new_client();
  mutex a{db, "a"}, b{db, "b"};
};

TEST_F(acquire_all_ghost_test, is_ended_before_the_locks_are_requested_again) {
  auto asked = in_background([&] { return acquire_all({a, b}); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_GE(faults.count("end_ghost"), 1);
  asked.get().release();
  server->run_ghosts();
  EXPECT_EQ(holder_of("a") + holder_of("b"), "");
}

TEST_F(acquire_all_ghost_test, that_cannot_be_ended_and_runs_after_its_caller_gave_up_leaves_nothing) {
  faults.refuse("end_ghost", 1000);
  faults.lose_request("find");
  auto asked = in_background([&] { return code_of([&] { std::ignore = try_acquire_all({a, b}); }); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(asked.get(), errc::unreachable);
  const auto read = faults.count("read_held");
  ASSERT_TRUE(soon([&] { return faults.count("read_held") > read; }));
  server->run_ghosts();
  ASSERT_NE(holder_of("a"), "") << "the ghost was granted its locks";
  EXPECT_TRUE(soon([&] { return holder_of("a") + holder_of("b") == ""; }));
}

INSTANTIATE_TEST_SUITE_P(first, acquire_all_doubt_test, testing::Values("acquire_all", "edit"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace rowlock::test
