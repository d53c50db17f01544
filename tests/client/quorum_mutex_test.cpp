#include "client/quorum_test.hpp"

#include "support/background.hpp"

#include <limits>

namespace rowlock::test {
namespace {

TEST_F(quorum_test, is_held_on_all_members_with_one_token) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  EXPECT_TRUE(held);
  EXPECT_EQ(held.name(), name);
  EXPECT_EQ(held.size(), count);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(databases[i].holder(), held.member_hold(i).id().to_string());
  EXPECT_GT(held.remaining(), 25s);
  EXPECT_LT(held.remaining(), 29s);
  EXPECT_FALSE(take(*two));
  EXPECT_EQ(run([&] { return held.release(); }), release_result::released);
  EXPECT_TRUE(is_free_everywhere());
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::none);
  const auto next = take(*two);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), held.token());
}

TEST_F(quorum_test, has_its_lock_options_on_every_member) {
  auto one = new_process();
  one->lock = std::make_unique<quorum_mutex>(one->clients, name, quorum_options{},
                                             lock_options{.fair = false, .delay = 10s});
  ASSERT_TRUE(take(*one));
  for (const auto& each : databases) {
    const auto stored = each.server->snapshot().locks.at(name).row;
    EXPECT_FALSE(stored.fair);
    EXPECT_EQ(stored.delay, 10s);
  }
}

TEST_F(quorum_test, does_without_a_minority) {
  const auto one = new_process();
  for (std::size_t missing = 0; missing < count; ++missing) {
    cut({missing});
    auto held = take(*one);
    ASSERT_TRUE(held) << missing;
    EXPECT_FALSE(held.member_hold(missing));
    EXPECT_EQ(run([&] { return held.release(); }), release_result::released);
  }
}

TEST_F(quorum_test, says_unreachable_without_a_majority_and_gives_back_what_it_had) {
  const auto one = new_process();
  cut({0, 1});
  EXPECT_EQ(run([&] { return code_of([&] { std::ignore = one->lock->try_acquire(); }); }), errc::unreachable);
  EXPECT_EQ(databases[2].holder(), "");
  EXPECT_FALSE(run([&] { return one->lock->try_acquire_for(1s); }));
  EXPECT_TRUE(soon([&] { return is_free_everywhere(); }));
  cut({});
  EXPECT_TRUE(run([&] { return one->lock->try_acquire_for(10s); }));
}

TEST_F(quorum_test, is_not_granted_with_a_minority_of_the_votes) {
  const auto one = new_process();
  const client zero = make_client(databases[0]);
  const client first = make_client(databases[1]);
  const auto a = run([&] { return mutex(zero, name).acquire(); });
  auto b = std::make_optional(run([&] { return mutex(first, name).acquire(); }));
  EXPECT_FALSE(take(*one));
  EXPECT_EQ(databases[2].holder(), "") << "it gave that back";
  run([&] { return b->release(); });
  EXPECT_TRUE(take(*one));
}

TEST_F(quorum_test, a_vote_that_comes_late_is_given_back) {
  const auto one = new_process();
  run([&] { return one->lock->acquire(); }).release();
  databases[0].faults->hang_answer("acquire");
  auto held = take(*one);
  ASSERT_TRUE(held) << "a majority has answered";
  EXPECT_FALSE(held.member_hold(0));
  EXPECT_NE(databases[0].holder(), "");
  databases[0].server->unblock();
  EXPECT_TRUE(soon([&] { return databases[0].holder().empty(); }));
  EXPECT_TRUE(held);
}

// A majority's own tokens may be lower than an earlier majority's: the databases know nothing of each other.
TEST_F(quorum_test, tokens_rise_across_any_two_majorities) {
  use_up_tokens(0, 20);
  use_up_tokens(1, 7);
  const auto one = new_process();
  const auto two = new_process();
  fencing_token last;
  for (const std::size_t missing : {2U, 0U, 1U, 0U, 2U, 1U}) {
    cut({missing});
    for (auto* who : {one.get(), two.get()}) {
      auto held = take(*who);
      ASSERT_TRUE(held) << missing;
      EXPECT_GT(held.token(), last) << missing;
      last = held.token();
      run([&] { return held.release(); });
    }
  }
}

TEST_F(quorum_test, a_token_is_told_only_when_a_majority_has_it) {
  use_up_tokens(0, 20);
  const auto one = new_process();
  cut({2});
  databases[1].faults->refuse("edit", std::numeric_limits<int>::max());
  EXPECT_FALSE(run([&] { return one->lock->try_acquire_for(2s); }));
  databases[1].faults->forget();
  auto held = run([&] { return one->lock->try_acquire_for(10s); });
  ASSERT_TRUE(held);
  EXPECT_EQ(databases[0].token(), held.token());
  EXPECT_EQ(databases[1].token(), held.token());
  EXPECT_EQ(held.member_hold(1).token(), held.token());
}

TEST_F(quorum_test, a_raised_token_whose_answer_was_lost_is_asked_for_again) {
  use_up_tokens(0, 20);
  const auto one = new_process();
  run([&] { return one->lock->acquire(); }).release();
  use_up_tokens(0, 20);
  cut({2});
  databases[1].faults->lose_answer("edit");
  const auto held = run([&] { return one->lock->try_acquire_for(10s); });
  ASSERT_TRUE(held);
  EXPECT_EQ(databases[1].token(), held.token());
}

TEST_F(quorum_test, refuses_what_it_cannot_do) {
  const auto one = new_process();
  for (const acquire_options& how : {acquire_options{.min_hold = 1s}, {.detect_deadlock = true}}) {
    EXPECT_EQ(code_of([&] { std::ignore = one->lock->acquire(how); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { std::ignore = one->lock->try_acquire(how); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { std::ignore = one->lock->try_acquire_for(1s, how); }), errc::invalid_argument);
  }
  EXPECT_TRUE(is_free_everywhere());
}

TEST_F(quorum_test, rivals_who_split_the_votes_are_granted_in_the_end) {
  std::vector<std::unique_ptr<process>> rivals;
  for (int i = 0; i < 3; ++i) rivals.push_back(new_process());
  std::atomic<int> inside{0};
  std::vector<fencing_token> tokens;
  std::vector<std::future<void>> running;
  for (auto& rival : rivals) {
    running.push_back(in_background([&] {
      for (int i = 0; i < 3; ++i) {
        auto held = rival->lock->acquire();
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_GT(held.token(), tokens.empty() ? fencing_token{} : tokens.back());
        tokens.push_back(held.token());
        inside.fetch_sub(1);
        held.release();
      }
    }));
  }
  for (auto& each : running) {
    EXPECT_TRUE(soon([&] { return each.wait_for(0s) == std::future_status::ready; }));
  }
  EXPECT_EQ(tokens.size(), 9U);
}

// The client ends at every step of an acquire: before or after each statement on each member. Whatever it leaves
// behind, the next client is granted the lock when the leases have expired, with a token above every token that was
// returned.
TEST_F(quorum_test, a_client_that_ends_at_any_step_leaves_nothing_for_long) {
  use_up_tokens(0, 5);
  fencing_token told;
  int steps = 0;
  for (bool finished = false; !finished; ++steps) {
    SCOPED_TRACE(steps);
    // This way each round has a token to raise.
    use_up_tokens(steps % count, 3);
    {
      const auto ending = new_process();
      for (std::size_t i = 0; i < count; ++i) databases[i].faults->cut_after(steps + static_cast<int>(i));
      auto held = run([&]() -> quorum_hold {
        try {
          return ending->lock->try_acquire();
        } catch (const error&) {
          return {};
        }
      });
      if (held) {
        EXPECT_GT(held.token(), told);
        told = held.token();
        finished = true;
        for (std::size_t i = 0; i < count; ++i) finished = finished && held.member_hold(i);
      }
      // The client ends, and cannot tell the databases.
      cut({0, 1, 2});
    }
    for (auto& each : databases) each.faults->cut_after(std::numeric_limits<int>::max());
    cut({});
    advance(31s);
    const auto next = new_process();
    auto held = run([&] { return next->lock->acquire(); });
    EXPECT_GT(held.token(), told);
    told = held.token();
    run([&] { return held.release(); });
  }
  // A member takes at least three statements to connect, two to make a lease and one to acquire; how many more its
  // threads send depends on their speed.
  EXPECT_GT(steps, 6);
}

TEST_F(quorum_test, refuses_what_cannot_be_right) {
  const auto clients = new_process()->clients;
  const auto refused = [&](std::vector<client> members, const quorum_options& settings) {
    return code_of([&] { quorum_mutex(std::move(members), name, settings); }) == errc::invalid_argument;
  };
  EXPECT_TRUE(refused({}, {}));
  EXPECT_TRUE(refused({clients[0], clients[0], clients[1]}, {}));
  EXPECT_TRUE(refused(clients, {.members = 2}));
  EXPECT_TRUE(refused(clients, {.members = 6}));
  EXPECT_TRUE(refused(clients, {.member_timeout = 4s}));
  EXPECT_TRUE(refused(clients, {.drift = 24h}));
  quorum_mutex lock{clients, name, {.members = 5, .member_timeout = 1s}};
  EXPECT_EQ(code_of([&] { std::ignore = lock.try_acquire({.ttl = 5s}); }), errc::invalid_argument);
  quorum_mutex slow{clients, name, {.members = 5, .member_timeout = 100ms, .drift = 5s}};
  EXPECT_EQ(code_of([&] { std::ignore = slow.try_acquire({.ttl = 5s}); }), errc::invalid_argument);
}

TEST_F(quorum_test, a_member_that_was_down_from_the_start_counts) {
  std::vector<client> clients;
  clients.push_back(make_client(databases[0]));
  clients.push_back(make_client(databases[1]));
  quorum_mutex lock{clients, name, {.members = 3}};
  EXPECT_TRUE(run([&] { return lock.try_acquire(); }));
  cut({0});
  EXPECT_EQ(run([&] { return code_of([&] { std::ignore = lock.try_acquire(); }); }), errc::unreachable);
}

}  // namespace
}  // namespace rowlock::test
