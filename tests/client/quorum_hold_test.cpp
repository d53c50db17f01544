#include "client/quorum_test.hpp"

#include "support/background.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace rowlock::test {
namespace {

class quorum_hold_test : public quorum_test {};

TEST_F(quorum_hold_test, is_given_back_on_those_members_that_can_be_reached) {
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

TEST_F(quorum_hold_test, stands_while_a_majority_stands_and_tells_when_it_does_not) {
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

// The program may keep the object for long after the loss: others must not have to wait for its destruction.
TEST_F(quorum_hold_test, a_lost_hold_gives_its_members_back_by_itself) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto kept = held.member_hold(1).id().to_string();
  cut({0, 2});
  ASSERT_TRUE(soon([&] { return held.loss() != loss::none; }));
  cut({0});
  EXPECT_TRUE(soon([&] { return databases[1].holder() != kept; }));
  EXPECT_TRUE(run([&] { return two->lock->try_acquire_for(1min); })) << "two of three are back";
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
}

TEST_F(quorum_hold_test, an_answer_that_was_lost_proves_nothing) {
  const auto one = new_process();
  for (const std::size_t lost : {1U, 2U}) {
    auto held = take(*one);
    ASSERT_TRUE(held);
    for (std::size_t i = 0; i < lost; ++i) databases[i].faults->lose_answer("release");
    EXPECT_EQ(run([&] { return held.release(); }),
              lost == 1 ? release_result::released : release_result::unknown);
    EXPECT_TRUE(is_free_everywhere());
  }
}

// The holder has not heard of the force when it releases the other members.
TEST_F(quorum_hold_test, a_member_that_was_forced_is_not_counted_as_released_after_a_lost_answer) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  for (const std::size_t i : {0U, 1U}) free(i);
  ASSERT_TRUE(held);
  databases[0].faults->lose_request("release");
  EXPECT_EQ(run([&] { return held.release(); }), release_result::unknown);
}

// The limit is the longest close_timeout of the members, not the sum.
TEST_F(quorum_hold_test, gives_back_on_all_members_within_one_close_timeout) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  cut({0, 1, 2});
  const auto begun = time->now();
  EXPECT_NE(run([&] { return held.release(); }), release_result::released);
  EXPECT_LT(time->now() - begun, 2 * calm().close_timeout);
  cut({});
}

TEST_F(quorum_hold_test, is_lost_with_its_leases_before_another_is_granted) {
  const auto one = new_process();
  const auto two = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  std::atomic<bool> told{false};
  const std::stop_callback on_loss{held.stop_token(), [&] { told = true; }};
  for (auto& each : databases) each.faults->lose_request("renew", 100'000);
  advance(20s);
  auto waiting = in_background([&] {
    auto next = two->lock->acquire();
    EXPECT_TRUE(told.load());
    return next.token();
  });
  ASSERT_TRUE(soon([&] { return waiting.wait_for(0s) == std::future_status::ready; }));
  EXPECT_GT(waiting.get(), held.token());
  EXPECT_EQ(held.loss(), loss::expired);
}

// The members' threads that tell of losses are busy with callbacks of other holds, so the holder is the first to find
// that its deadline has passed.
class quorum_untold_test : public quorum_test {
 protected:
  using callback = std::stop_callback<std::function<void()>>;

  quorum_untold_test() {
    for (auto& each : one->clients) {
      mutex lock{each, "other"};
      others.push_back(run([&] { return lock.acquire(); }));
      callbacks.push_back(std::make_unique<callback>(others.back().stop_token(), [this] {
        ++busy;
        gone.wait();
      }));
    }
    for (auto& each : databases) {
      const client operators = make_client(each);
      run([&] { return admin(operators).release("other"); });
    }
    EXPECT_TRUE(soon([&] { return busy == count; }));
  }
  ~quorum_untold_test() override {
    go.set_value();
    callbacks.clear();
    for (auto& each : databases) each.faults->forget();
  }

  void pass_the_deadline() {
    for (auto& each : databases) each.faults->lose_request("renew", 3);
    advance(40s);
  }
  bool another_is_granted() {
    const auto two = new_process();
    return static_cast<bool>(run([&] { return two->lock->try_acquire_for(1min); }));
  }

  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::atomic<std::size_t> busy{0};
  const std::unique_ptr<process> one = new_process();
  std::vector<hold> others;
  std::vector<std::unique_ptr<callback>> callbacks;
};

TEST_F(quorum_untold_test, a_release_tells_before_another_is_granted) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto stop = held.stop_token();
  pass_the_deadline();
  EXPECT_EQ(held.loss(), loss::expired);
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_TRUE(held.stop_token().stop_requested()) << "one that is asked for after the loss";
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(held.loss(), loss::expired);
  EXPECT_TRUE(another_is_granted());
}

TEST_F(quorum_untold_test, its_end_tells_before_another_is_granted) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto stop = held.stop_token();
  pass_the_deadline();
  run([&] {
    held = {};
    return true;
  });
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(another_is_granted());
}

// A minority still stands when the other members are lost. If it were released first, a rival could get a majority
// before the callbacks have run.
TEST_F(quorum_untold_test, a_callback_runs_while_what_is_left_stands_and_may_end_the_hold) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  const auto kept = databases[2].holder();
  std::string holder_then;
  const std::stop_callback on_loss{held.stop_token(), [&] {
                                     holder_then = databases[2].holder();
                                     held = {};
                                   }};
  for (const std::size_t i : {0U, 1U}) databases[i].faults->lose_request("renew", 3);
  for (int i = 0; i < 4; ++i) {
    advance(10s);
    ASSERT_TRUE(eventually([&] { return held.member_hold(2).remaining() > 20s; })) << "it is renewed";
  }
  ASSERT_EQ(held.loss(), loss::expired);
  EXPECT_EQ(run([&] { return held.release(); }), release_result::lost);
  EXPECT_EQ(holder_then, kept);
  EXPECT_TRUE(soon([&] { return databases[2].holder() != kept; }));
}

// The end of a std::stop_callback waits for its call, which no thread of the child will ever end.
TEST_F(quorum_hold_test, whose_loss_is_being_told_at_a_fork_ends_in_the_child) {
  const auto one = new_process();
  auto held = take(*one);
  ASSERT_TRUE(held);
  std::atomic<bool> is_told{false};
  std::promise<void> may_go_on;
  const std::stop_callback on_loss{held.stop_token(), [&] {
                                     is_told = true;
                                     may_go_on.get_future().wait();
                                   }};
  cut({0, 1, 2});
  EXPECT_TRUE(soon([&] { return is_told.load(); }));
  // If another thread were in a sanitizer's allocator at this moment, the allocator would stay locked in the child.
  virtual_time::let_others_sleep();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    held = {};
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  may_go_on.set_value();
  cut({});
}

TEST_F(quorum_hold_test, an_explicit_ttl_ends_it) {
  const auto one = new_process();
  auto held = run([&] { return one->lock->try_acquire({.ttl = 10s}); });
  ASSERT_TRUE(held);
  EXPECT_LT(held.remaining(), 10s);
  advance(10s);
  EXPECT_TRUE(soon([&] { return held.loss() == loss::expired; }));
}

class quorum_hold_data_test : public quorum_test {
 protected:
  // The data that everybody sees on each member beside the holder; "-": nobody holds the lock.
  std::vector<std::string> data() {
    std::vector<std::string> all;
    for (auto& each : databases) {
      const client operators = make_client(each);
      const auto seen = run([&] { return admin(operators).show(name); });
      all.push_back(seen && !seen->holders.empty() ? seen->holders.at(0).data : "-");
    }
    return all;
  }
  std::optional<error> failure_of(const quorum_hold& held, const std::string& text) {
    return run([&]() -> std::optional<error> {
      try {
        held.set_data(text);
        return std::nullopt;
      } catch (const error& failure) {
        return failure;
      }
    });
  }

  const std::unique_ptr<process> one = new_process();
};

TEST_F(quorum_hold_data_test, is_shown_by_every_member_and_the_next_hold_has_none) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  for (const std::string text : {"site a", "", "site b"}) {
    ASSERT_FALSE(failure_of(held, text));
    EXPECT_EQ(data(), (std::vector<std::string>(count, text)));
  }
  run([&] { return held.release(); });
  EXPECT_EQ(failure_of(held, "still me")->code(), errc::hold_lost);
  EXPECT_EQ(failure_of({}, "nobody")->code(), errc::hold_lost);
  const auto next = take(*one);
  ASSERT_TRUE(next);
  EXPECT_EQ(data(), (std::vector<std::string>(count, "")));
}

TEST_F(quorum_hold_data_test, impossible_texts_are_refused) {
  auto held = take(*one);
  ASSERT_FALSE(failure_of(held, "good"));
  for (const auto& text : {std::string(4097, 'x'), std::string{"\xff"}, std::string("a\0b", 3)}) {
    EXPECT_EQ(failure_of(held, text)->code(), errc::invalid_argument);
  }
  EXPECT_EQ(data(), (std::vector<std::string>(count, "good")));
}

TEST_F(quorum_hold_data_test, a_majority_is_enough_and_a_repeated_call_reaches_the_others) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  for (std::size_t missing = 0; missing < count; ++missing) {
    const auto old = data();
    const auto text = "without " + std::to_string(missing);
    databases[missing].faults->refuse_unreachable("edit");
    EXPECT_FALSE(failure_of(held, text)) << missing;
    auto expected = std::vector<std::string>(count, text);
    expected[missing] = old[missing];
    EXPECT_EQ(data(), expected);
    EXPECT_FALSE(failure_of(held, text));
    EXPECT_EQ(data(), (std::vector<std::string>(count, text)));
  }
  EXPECT_TRUE(held);
}

TEST_F(quorum_hold_data_test, less_than_a_majority_is_an_error_that_says_so_and_the_hold_remains) {
  auto held = take(*one);
  ASSERT_FALSE(failure_of(held, "old"));
  databases[0].faults->refuse_unreachable("edit");
  databases[1].faults->deny("edit");
  const auto part = failure_of(held, "new");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->code(), errc::unreachable) << "a majority does not refuse: " << part->what();
  EXPECT_TRUE(part->outcome_unknown()) << "one has the new text";
  EXPECT_NE(std::string{part->what()}.find("1 of the 3 members"), std::string::npos) << part->what();
  EXPECT_EQ(data(), (std::vector<std::string>{"old", "old", "new"}));
  EXPECT_TRUE(held);

  for (const std::size_t refuses : {0U, 2U}) databases[refuses].faults->deny("edit");
  const auto refused = failure_of(held, "new");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), errc::privilege) << refused->what();

  for (auto& each : databases) each.faults->refuse_unreachable("edit");
  const auto none = failure_of(held, "newer");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->code(), errc::unreachable);
  EXPECT_FALSE(none->outcome_unknown());
  EXPECT_TRUE(held);
  EXPECT_FALSE(failure_of(held, "newer"));
  EXPECT_EQ(data(), (std::vector<std::string>(count, "newer")));
}

// All members have member_timeout at the same time.
TEST_F(quorum_hold_data_test, does_not_wait_for_long_for_members_that_are_silent) {
  auto held = take(*one);
  ASSERT_TRUE(held);
  for (const std::size_t silent : {0U, 1U}) databases[silent].faults->hang("edit");
  const auto begun = time->now();
  const auto failure = failure_of(held, "late");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), errc::unreachable);
  EXPECT_TRUE(failure->outcome_unknown());
  EXPECT_GE(time->now() - begun, 600ms) << "a fiftieth of the ttl";
  EXPECT_LT(time->now() - begun, 1200ms);
  EXPECT_TRUE(held);
  for (const std::size_t silent : {0U, 1U}) databases[silent].server->unblock();
  // A late text would replace this one.
  EXPECT_TRUE(soon([&] { return !failure_of(held, "newer"); }));
  EXPECT_EQ(data(), std::vector<std::string>(count, "newer"));
}

// The databases know of the loss before the holder does.
TEST_F(quorum_hold_data_test, who_has_lost_a_majority_says_nothing) {
  auto held = take(*one);
  ASSERT_FALSE(failure_of(held, "mine"));
  free(0);
  EXPECT_FALSE(failure_of(held, "still on two"));
  EXPECT_EQ(data(), (std::vector<std::string>{"-", "still on two", "still on two"}));
  free(2);
  ASSERT_TRUE(held) << "nobody has told it";
  EXPECT_EQ(failure_of(held, "still me")->code(), errc::hold_lost);
}

}  // namespace
}  // namespace rowlock::test
