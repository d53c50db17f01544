#include "client/client_test.hpp"

#include "primitives/access.hpp"
#include "support/background.hpp"

#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <utility>

namespace rowlock::test {
namespace {

class hold_test : public client_test {
 protected:
  client db = new_client();
};

TEST_P(hold_test, of_nothing_answers_every_question) {
  hold nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.token(), fencing_token{});
  EXPECT_EQ(nothing.name(), "");
  EXPECT_EQ(nothing.id(), hold_id{});
  EXPECT_EQ(nothing.remaining(), 0s);
  EXPECT_FALSE(nothing.stop_token().stop_possible());
  EXPECT_EQ(nothing.loss(), loss::none);
  EXPECT_EQ(nothing.release(), release_result::lost);
  EXPECT_EQ(code_of([&] { std::ignore = nothing.guard_statement(); }), errc::hold_lost);
}

TEST_P(hold_test, moves_and_leaves_nothing_behind) {
  hold first = mutex(db, "a").acquire();
  const auto id = first.id();
  hold second{std::move(first)};
  EXPECT_FALSE(first);  // NOLINT: the state of a moved-from hold is specified
  EXPECT_EQ(first.release(), release_result::lost);
  EXPECT_EQ(second.id(), id);
  EXPECT_TRUE(second);
  EXPECT_EQ(holder_of("a"), id.to_string());
}

TEST_P(hold_test, assigned_to_releases_what_it_held) {
  hold one = mutex(db, "a").acquire();
  one = mutex(db, "b").acquire();
  EXPECT_TRUE(eventually([&] { return !is_held("a"); }));
  EXPECT_EQ(one.name(), "b");
  hold& itself = one;
  one = std::move(itself);
  EXPECT_TRUE(one) << "also to itself";
}

TEST_P(hold_test, released_twice_says_what_the_first_release_said) {
  hold held = mutex(db, "a").acquire();
  EXPECT_EQ(held.release(), release_result::released);
  const hold other = mutex(db, "a").acquire();
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_TRUE(is_held("a")) << "the second one releases nobody else";
}

TEST_P(hold_test, its_destructor_releases) {
  { const hold held = mutex(db, "a").acquire(); }
  EXPECT_FALSE(is_held("a"));
  EXPECT_EQ(db.stats().released, 1U);
}

TEST_P(hold_test, its_remaining_time_is_within_the_ttl) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_GT(held.remaining(), 0s);
  EXPECT_LT(held.remaining(), options{}.ttl);
}

TEST_P(hold_test, release_does_not_stop_its_stop_token) {
  hold held = mutex(db, "a").acquire();
  const auto stop = held.stop_token();
  held.release();
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_TRUE(stop.stop_possible());
}

TEST_P(hold_test, forced_away_says_so_at_once_and_releases_nothing) {
  // The loss must show long before the lease is renewed for the first time, except on a store that is not polled while
  // nobody waits.
  const client slow = new_client(has_mysql_dialect(GetParam()) ? quick_to_renew() : slow_to_renew());
  hold held = mutex(slow, "a").acquire();
  const auto stop = held.stop_token();
  ASSERT_TRUE(admin{db}.release("a"));
  const hold next = mutex(db, "a").acquire();
  ASSERT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_FALSE(held);
  EXPECT_EQ(held.remaining(), 0s);
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_EQ(holder_of("a"), next.id().to_string());
  EXPECT_EQ(code_of([&] { std::ignore = held.guard_statement(); }), errc::hold_lost);
}

TEST_P(hold_test, forced_away_says_so_at_once_although_its_own_process_gets_the_lock) {
  const client slow = new_client(has_mysql_dialect(GetParam()) ? quick_to_renew() : slow_to_renew());
  const hold held = mutex(slow, "a").acquire();
  const auto stop = held.stop_token();
  auto waiter = waiting(slow, "a");
  ASSERT_TRUE(admin{db}.release("a"));
  const hold next = waiter.take();
  ASSERT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(held.loss(), loss::forced);
  EXPECT_TRUE(next);
}

TEST_P(hold_test, a_stop_token_asked_for_after_the_loss_has_stopped) {
  const client quick = new_client(quick_to_renew());
  hold held = mutex(quick, "a").acquire();
  ASSERT_TRUE(admin{db}.release("a"));
  ASSERT_TRUE(eventually([&] { return held.loss() == loss::forced; }));
  EXPECT_TRUE(held.stop_token().stop_requested());
}

TEST_P(hold_test, of_a_closed_client_says_closed) {
  hold held = mutex(db, "a").acquire();
  const auto stop = held.stop_token();
  db.close();
  EXPECT_EQ(held.loss(), loss::closed);
  EXPECT_FALSE(held);
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(hold_test, keeps_its_client_open) {
  hold held = mutex{new_client(), "a"}.acquire();
  EXPECT_TRUE(held);
  EXPECT_TRUE(is_held("a"));
  hold moved = std::move(held);
  held = {};
  EXPECT_TRUE(moved) << "a moved-from hold keeps nothing";
  EXPECT_NO_THROW(moved.set_data("its client is open"));
  EXPECT_EQ(moved.release(), release_result::released);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(hold_test, that_is_the_last_handle_closes_its_client) {
  std::optional<hold> held = mutex{new_client(), "a"}.acquire();
  const auto engine = primitives::access::state(*held)->engine().shared_from_this();
  held->release();
  EXPECT_NO_THROW(engine->check_usable()) << "until it is destroyed";
  held.reset();
  EXPECT_EQ(code_of([&] { engine->check_usable(); }), errc::closed);
}

TEST_P(hold_test, assigned_to_closes_the_client_of_the_previous_hold) {
  hold held = mutex{new_client(), "a"}.acquire();
  auto& first = primitives::access::state(held)->engine();
  const auto kept = first.shared_from_this();
  held = mutex(db, "b").acquire();
  EXPECT_EQ(code_of([&] { first.check_usable(); }), errc::closed);
  EXPECT_TRUE(held);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(hold_test, ends_its_client_in_a_callback_of_its_own_loss) {
  std::optional<hold> held = mutex{new_client(), "a"}.acquire();
  std::promise<void> ended;
  std::optional<std::stop_callback<std::function<void()>>> on_loss;
  on_loss.emplace(held->stop_token(), [&] {
    held.reset();  // on a thread of the client, which the last hold closes
    ended.set_value();
  });
  EXPECT_TRUE(admin{db}.release("a"));
  EXPECT_EQ(ended.get_future().wait_for(60s), std::future_status::ready);
  on_loss.reset();
}

ROWLOCK_FOR_EACH_STORE(hold_test);

class hold_clock_test : public virtual_client_test {
 protected:
  client db = new_client();
};

TEST_F(hold_clock_test, its_remaining_time_is_the_leases_less_the_margin) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(held.remaining(), 30s - 1s - 30ms);
  advance(5s);
  EXPECT_EQ(held.remaining(), 25s - 1s - 30ms);
}

TEST_F(hold_clock_test, is_lost_at_its_deadline_without_anybody_to_say_so) {
  hold held = mutex(db, "a").acquire();
  const auto stop = held.stop_token();
  faults.cut(true);
  time.advance(28'969ms);
  EXPECT_TRUE(held);
  time.advance(1ms);
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::expired) << "before the watchdog came round";
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_EQ(db.stats().lost, 1U);
}

TEST_F(hold_clock_test, released_while_the_database_is_gone_is_unknown_and_done_later) {
  auto settings = calm();
  settings.close_timeout = 1s;
  settings.connections = 2;
  client other = new_client(settings);
  hold held = mutex(other, "b").acquire();
  faults.cut(true);
  auto released = in_background([&] { return held.release(); });
  // The release's statement fails, and its connection with it; then the caller's limit ends.
  ASSERT_TRUE(eventually([&] {
    time.advance(50ms);
    return released.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_EQ(released.get(), release_result::unknown);
  EXPECT_EQ(held.release(), release_result::unknown) << "a second call says the same";
  EXPECT_NE(holder_of("b"), "");
  faults.cut(false);
  EXPECT_TRUE(eventually([&] {
    time.advance(50ms);
    return holder_of("b").empty();
  }));
}

TEST_F(hold_clock_test, its_destructor_does_not_throw_when_the_database_is_gone) {
  auto settings = calm();
  settings.close_timeout = 50ms;
  client other = new_client(settings);
  auto held = std::make_optional(mutex(other, "b").acquire());
  faults.cut(true);
  auto gone = in_background([&] { held.reset(); });
  EXPECT_TRUE(eventually([&] {
    time.advance(10ms);
    return gone.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_NO_THROW(gone.get());
}

TEST_F(hold_clock_test, released_under_a_guard_is_pending_and_done_when_the_guard_ends) {
  hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(server->guard("a", model::hold_id{held.id()}));
  EXPECT_EQ(held.release(), release_result::pending);
  EXPECT_EQ(held.release(), release_result::pending);
  EXPECT_FALSE(held);
  EXPECT_NE(holder_of("a"), "");
  server->unguard("a");
  EXPECT_TRUE(eventually([&] {
    time.advance(10ms);
    return holder_of("a").empty();
  }));
}

TEST_F(hold_clock_test, released_while_somebody_has_the_row_is_done_when_he_is_gone) {
  hold held = mutex(db, "a").acquire();
  server->lock_row("a");
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(eventually([&] {
    time.advance(20ms);
    return released.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_EQ(released.get(), release_result::pending);
  server->unlock_row("a");
  EXPECT_TRUE(eventually([&] {
    time.advance(20ms);
    return holder_of("a").empty();
  }));
}

TEST_F(hold_clock_test, whose_lease_was_killed_is_gone_with_the_next_renewal) {
  hold held = mutex(db, "a").acquire();
  const auto lease = server->snapshot().leases.begin()->first;
  server->expire(lease);
  server->open()->connect()->kill(std::vector{lease}, 0us);
  advance(10s);
  ASSERT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
  EXPECT_EQ(held.loss(), loss::gone);
}

TEST_F(hold_clock_test, a_callback_may_call_the_library) {
  const hold held = mutex(db, "a").acquire();
  std::promise<std::int64_t> got;
  const std::stop_callback on_loss{held.stop_token(), [&] {
                                     const hold other = mutex(db, "b").acquire();
                                     std::ignore = admin{db}.list();
                                     got.set_value(other.token().value() + held.remaining().count());
                                   }};
  ASSERT_TRUE(admin{db}.release("a"));
  advance(10s);
  auto token = got.get_future();
  ASSERT_EQ(token.wait_for(30s), std::future_status::ready);
  EXPECT_GT(token.get(), 0);
}

TEST_F(hold_clock_test, a_callback_that_hangs_delays_no_renewal_and_no_acquire) {
  const hold held = mutex(db, "a").acquire();
  const hold kept = mutex(db, "b").acquire();
  std::promise<void> entered;
  std::promise<void> leave;
  const std::stop_callback on_loss{held.stop_token(), [&] {
                                     entered.set_value();
                                     leave.get_future().wait();
                                   }};
  ASSERT_TRUE(admin{db}.release("a"));
  advance(10s);
  entered.get_future().wait();
  pass_renewals(db, 4);
  EXPECT_TRUE(kept);
  EXPECT_TRUE(mutex(db, "c").try_acquire());
  leave.set_value();
}

}  // namespace
}  // namespace rowlock::test
