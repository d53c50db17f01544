// The shape of the public interface: the same verbs everywhere, with every duration and clock, and one empty state.
// tests/package/run checks the compiler's warnings.
#include "client/base/settings.hpp"
#include "client/client_test.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace rowlock::test {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

template <class... Classes>
constexpr bool move_only = (!std::is_copy_constructible_v<Classes> && ...) &&
                           (!std::is_copy_assignable_v<Classes> && ...) &&
                           (std::is_nothrow_move_constructible_v<Classes> && ...) &&
                           (std::is_nothrow_move_assignable_v<Classes> && ...);
static_assert(move_only<mutex, recursive_mutex, shared_mutex, recursive_shared_mutex, counting_semaphore,
                        latch, barrier, election, quorum_mutex, candidate, migrator>);
static_assert(move_only<hold, term, hold_set, quorum_hold, rowlock::task>);
// The base class of a lock cannot be moved away from it.
static_assert(!std::is_move_constructible_v<exclusive_lock> && !std::is_move_assignable_v<exclusive_lock>);

class interface_test : public virtual_client_test {
 protected:
  const steady_clock::time_point past = steady_clock::now() - 1h;
  const system_clock::time_point far = system_clock::now() + 24h;

  client db = new_client();
};

TEST_F(interface_test, every_lock_is_acquired_until_a_time_of_any_clock) {
  recursive_mutex again{db, "a"};
  shared_mutex catalog{db, "b"};
  counting_semaphore slots{db, "c", 3};
  election office{db, "d"};
  quorum_mutex global{{db}, "e"};
  const hold held = mutex(db, "a").try_acquire_until(far);
  EXPECT_TRUE(held);
  EXPECT_FALSE(again.try_acquire_until(past));
  const hold reader = catalog.try_acquire_shared_until(far);
  EXPECT_TRUE(reader);
  EXPECT_FALSE(catalog.try_acquire_until(past));
  const hold two = slots.try_acquire_until(far, 2);
  EXPECT_EQ(two.weight(), 2);
  EXPECT_FALSE(slots.try_acquire_until(past, 2));
  const term leads = office.try_campaign_until(far);
  EXPECT_TRUE(leads);
  EXPECT_FALSE(office.try_campaign_until(past));
  const quorum_hold most = global.try_acquire_until(far);
  EXPECT_TRUE(most);
  EXPECT_FALSE(global.try_acquire_until(past));
  EXPECT_FALSE(try_acquire_all_until(past, {shared(catalog), permits(slots, 2)}));
  EXPECT_EQ(try_acquire_all_until(far, {shared(catalog), permits(slots)}).size(), 2U);
}

TEST_F(interface_test, every_mutex_has_the_standards_names) {
  mutex a{db, "a"};
  recursive_mutex b{db, "b"};
  shared_mutex c{db, "c"};
  const auto locks = [&](exclusive_lock& lock) {
    EXPECT_TRUE(lock.try_lock_until(far));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(1.5s));
    EXPECT_EQ(lock.current_hold().name(), lock.name());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  };
  locks(a);
  locks(b);
  locks(c);
  EXPECT_TRUE(c.try_lock_shared_until(far));
  EXPECT_TRUE(c.try_lock_shared_for(1.5s));
  c.unlock_shared();
  c.unlock_shared();
  const std::scoped_lock all{a, b, c};
  EXPECT_TRUE(c.current_hold());
}

TEST_F(interface_test, every_wait_ends_at_a_time_of_any_clock) {
  latch gate{db, "a", 2};
  EXPECT_FALSE(gate.wait_until(past));
  EXPECT_FALSE(gate.arrive_and_wait_for(0s));
  EXPECT_EQ(gate.remaining(), 1) << "it has counted";
  EXPECT_TRUE(gate.arrive_and_wait_until(far));
  EXPECT_TRUE(barrier(db, "b", 1).arrive_and_wait_until(far));
  EXPECT_EQ(election(db, "c").wait_until(past, {}), leadership{});
}

TEST_F(interface_test, what_holds_nothing_is_empty) {
  const hold nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.token(), fencing_token{});
  EXPECT_EQ(nothing.name(), "");
  EXPECT_FALSE(term{});
  EXPECT_FALSE(quorum_hold{});
  EXPECT_FALSE(hold_set{});
  EXPECT_FALSE(acquired{});
  const hold held = mutex(db, "a").acquire();
  const hold busy = mutex(db, "a").try_acquire();
  EXPECT_FALSE(busy);
  EXPECT_EQ(busy.loss(), loss::none) << "it was never held";
}

TEST_F(interface_test, a_lock_that_moves_takes_along_what_it_has_locked) {
  mutex a{db, "a"};
  a.lock();
  mutex moved = std::move(a);
  EXPECT_TRUE(moved.current_hold());
  EXPECT_EQ(moved.name(), "a");
  moved.unlock();
  moved.lock();
  moved = mutex{db, "b"};  // unlocks
  EXPECT_TRUE(mutex(db, "a").try_acquire());
  EXPECT_TRUE(moved.try_lock());
  moved.unlock();
  recursive_shared_mutex catalog{db, "c"};
  catalog.lock_shared();
  recursive_shared_mutex there = std::move(catalog);
  EXPECT_EQ(there.read_depth(), 1U);
  there.unlock_shared();
  std::vector<latch> gates;
  for (const auto* name : {"d", "e", "f"}) gates.emplace_back(db, name, 1);
  for (auto& gate : gates) gate.count_down();
  EXPECT_TRUE(std::ranges::all_of(gates, [](const latch& gate) { return gate.try_wait(); }));
}

TEST_F(interface_test, durations_are_of_any_type_and_rounded_up) {
  options settings;
  settings.ttl = 90.0s;
  EXPECT_EQ(settings.ttl, 90s);
  settings.renew_interval = 1.5s;
  EXPECT_EQ(settings.renew_interval, 1500ms);
  settings.margin = 1us;
  EXPECT_EQ(settings.margin, 1ms);
  settings.sweep_interval = std::chrono::hours::max();
  EXPECT_EQ(settings.sweep_interval, std::chrono::milliseconds::max());
  EXPECT_EQ(lock_options{.delay = 30.0min}.delay, 30min);
  EXPECT_EQ(time_limit{std::chrono::hours::max()}.length(), forever.length());

  admin operations{db};
  operations.set_skew(0.25s);
  EXPECT_EQ(operations.skew(), 250ms);
  EXPECT_EQ(operations.collect(30.0min), 0);
  EXPECT_NE(mutex(db, "a").acquire({.ttl = 30.0min, .min_hold = 0.5ms}).transfer(30.0s), "");
}

TEST_F(interface_test, a_zero_is_a_zero) {
  const auto refuses = [](const std::function<void(options&)>& change) {
    auto settings = calm();
    change(settings);
    return code_of([&] { std::ignore = client_layer::checked_settings(settings); }) == errc::invalid_argument;
  };
  EXPECT_TRUE(refuses([](options& wrong) { wrong.renew_interval = 0s; }));
  EXPECT_TRUE(refuses([](options& wrong) { wrong.sweep_interval = 0s; }));
  auto never = calm();
  never.sweep_interval.reset();
  EXPECT_NO_THROW(std::ignore = client_layer::checked_settings(never));
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire({.ttl = 0s}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { quorum_mutex(std::vector{db}, "a", {.members = 0}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { quorum_mutex(std::vector{db}, "a", {.member_timeout = 0s}); }),
            errc::invalid_argument);
  EXPECT_TRUE(quorum_mutex(std::vector{db}, "a", {.drift = 0s}).acquire());
}

TEST_F(interface_test, a_semaphore_refuses_a_delay) {
  EXPECT_EQ(code_of([&] { counting_semaphore(db, "a", 1, {.delay = 1s}); }), errc::invalid_argument);
}

}  // namespace
}  // namespace rowlock::test
