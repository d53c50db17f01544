#include "client/client_test.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace rowlock::test {
namespace {

// Three databases with one virtual clock. `member` counts from 0.
class quorum_test : public testing::Test {
 protected:
  static constexpr std::size_t count = 3;
  static constexpr const char* name = "global";

  ~quorum_test() override {
    for (auto& one : databases) one.faults->detach();
  }

  struct database {
    std::shared_ptr<store::memory_server> server = store::memory_server::create();
    std::shared_ptr<fault_plan> faults = fault_plan::of(server);

    std::string holder() const {
      const auto tables = server->snapshot();
      const auto found = tables.locks.find(name);
      return found == tables.locks.end() || !found->second.row.hold ? std::string{}
                                                                    : found->second.row.hold->to_string();
    }
    std::int64_t token() const { return server->snapshot().locks.at(name).row.token; }
  };

  static options calm() {
    options settings;
    settings.renew_interval = 10s;
    settings.margin = 1s;
    settings.sweep_interval.reset();
    settings.close_timeout = 200ms;
    return settings;
  }

  // A process with a client on each database; it can end without telling them.
  struct process {
    std::vector<client> clients;
    std::unique_ptr<quorum_mutex> lock;
  };
  std::unique_ptr<process> new_process(const quorum_options& settings = {}) {
    auto made = std::make_unique<process>();
    for (auto& one : databases) made->clients.push_back(make_client(one));
    made->lock = std::make_unique<quorum_mutex>(made->clients, name, settings);
    return made;
  }
  client make_client(database& on);

  void advance(std::chrono::milliseconds by) {
    virtual_time::let_others_sleep();
    for (auto& one : databases) one.server->advance(by);
    time->advance(by);
  }
  bool soon(const std::function<bool()>& condition) {
    return eventually([&, steps = 0]() mutable {
      if (condition()) return true;
      advance(virtual_time::next_step(steps++));
      return condition();
    });
  }
  // In a thread of its own, while time passes.
  template <class Call>
  auto run(Call call) {
    auto running = std::async(std::launch::async, std::move(call));
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    return running.get();
  }
  quorum_hold take(process& in) {
    return run([&] { return in.lock->try_acquire(); });
  }
  void cut(std::vector<std::size_t> members) {
    for (std::size_t i = 0; i < count; ++i) {
      databases[i].faults->cut(std::ranges::count(members, i) > 0);
    }
  }
  bool is_free_everywhere() const {
    return std::ranges::all_of(databases, [](const auto& one) { return one.holder().empty(); });
  }
  // Each member's next token is that much further than the others'.
  void use_up_tokens(std::size_t member, int times) {
    const client db = make_client(databases[member]);
    mutex busy{db, name};
    for (int i = 0; i < times; ++i) run([&] { return busy.acquire(); }).release();
  }

  const std::shared_ptr<virtual_time> time = std::make_shared<virtual_time>();
  std::array<database, count> databases;
};

client quorum_test::make_client(database& on) {
  return make_virtual_client(on.server->open(), calm(), time);
}

TEST_F(quorum_test, is_held_on_all_members_with_one_token) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  EXPECT_TRUE(held);
  EXPECT_EQ(held.name(), name);
  EXPECT_EQ(held.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(databases[i].holder(), held.member_hold(i).id());
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

// A majority of the votes alone may carry any token: those of two majorities know nothing of each other.
TEST_F(quorum_test, tokens_rise_across_any_two_majorities) {
  use_up_tokens(0, 20);
  use_up_tokens(1, 7);
  const auto one = new_process();
  const auto two = new_process();
  std::int64_t last = 0;
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

TEST_F(quorum_test, is_given_back_on_those_members_that_can_be_reached) {
  const auto one = new_process();
  for (std::size_t missing = 0; missing < count; ++missing) {
    auto held = take(*one);
    ASSERT_TRUE(held) << missing;
    cut({missing});
    EXPECT_EQ(run([&] { return held.release(); }), release_result::released) << missing;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(databases[i].holder().empty(), i != missing);
    cut({});
    EXPECT_TRUE(soon([&] { return is_free_everywhere(); })) << "it is not given up on the other one";
  }
}

TEST_F(quorum_test, stands_while_a_majority_stands_and_tells_when_it_does_not) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto stop = held.stop_token();
  const auto force = [&](std::size_t i) {
    const client operators = make_client(databases[i]);
    run([&] { return admin(operators).release(name); });
    EXPECT_TRUE(soon([&] { return held.member_hold(i).loss() != loss::none; }));
  };
  force(0);
  EXPECT_TRUE(held);
  EXPECT_FALSE(stop.stop_requested());
  force(2);
  EXPECT_TRUE(soon([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_EQ(held.remaining(), 0ns);
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_TRUE(soon([&] { return is_free_everywhere(); }));
}

// The object may be kept for long: a majority must not wait for that.
TEST_F(quorum_test, a_lost_hold_gives_its_members_back_by_itself) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto kept = held.member_hold(1).id();
  cut({0, 2});
  ASSERT_TRUE(soon([&] { return held.loss() != loss::none; }));
  cut({0});
  EXPECT_TRUE(soon([&] { return databases[1].holder() != kept; }));
  EXPECT_TRUE(run([&] { return two->lock->try_acquire_for(1min); })) << "two of three are back";
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
}

// The longest close_timeout of theirs, not the sum.
TEST_F(quorum_test, gives_back_on_all_members_within_one_close_timeout) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  cut({0, 1, 2});
  const auto begun = time->now();
  EXPECT_NE(run([&] { return held.release(); }), release_result::released);
  EXPECT_LT(time->now() - begun, 2 * calm().close_timeout);
  cut({});
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

TEST_F(quorum_test, is_lost_with_its_leases_before_another_is_granted) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  std::atomic<bool> told{false};
  const std::stop_callback on_loss{held.stop_token(), [&] { told = true; }};
  for (auto& each : databases) each.faults->lose_request("renew", 100'000);
  advance(20s);
  auto waiting = std::async(std::launch::async, [&] {
    auto next = two->lock->acquire();
    EXPECT_TRUE(told.load());
    return next.token();
  });
  ASSERT_TRUE(soon([&] { return waiting.wait_for(0s) == std::future_status::ready; }));
  EXPECT_GT(waiting.get(), held.token());
  EXPECT_EQ(held.loss(), loss::expired);
}

TEST_F(quorum_test, rivals_who_split_the_votes_are_granted_in_the_end) {
  std::vector<std::unique_ptr<process>> rivals;
  for (int i = 0; i < 3; ++i) rivals.push_back(new_process());
  std::atomic<int> inside{0};
  std::vector<std::int64_t> tokens;
  std::vector<std::future<void>> running;
  for (auto& rival : rivals) {
    running.push_back(std::async(std::launch::async, [&] {
      for (int i = 0; i < 3; ++i) {
        auto held = rival->lock->acquire();
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_GT(held.token(), tokens.empty() ? 0 : tokens.back());
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

// The client ends at every step of an acquire: before or after each statement on each member. Whatever it
// leaves, the next one is granted when the leases have run out, with a token above all that was told.
TEST_F(quorum_test, a_client_that_ends_at_any_step_leaves_nothing_for_long) {
  use_up_tokens(0, 5);
  std::int64_t told = 0;
  int steps = 0;
  for (bool finished = false; !finished; ++steps) {
    SCOPED_TRACE(steps);
    // So that each round has a token to raise.
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
      // It ends, and cannot say so.
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
  EXPECT_GT(steps, 10);
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
  quorum_mutex lock{clients, name, {.members = 5, .member_timeout = 1s}};
  EXPECT_EQ(code_of([&] { std::ignore = lock.try_acquire({.ttl = 5s}); }), errc::invalid_argument);
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

TEST_F(quorum_test, an_explicit_ttl_ends_it) {
  const auto one = new_process();
  auto held = run([&] { return one->lock->try_acquire({.ttl = 10s}); });
  ASSERT_TRUE(held);
  EXPECT_LT(held.remaining(), 10s);
  advance(10s);
  EXPECT_TRUE(soon([&] { return held.loss() == loss::expired; }));
}

}  // namespace
}  // namespace rowlock::test
