// Every call keeps its limit and obeys its stop token, even behind a worker that is busy with something else.
#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class call_limit_test : public virtual_client_test {
 protected:
  ~call_limit_test() override {
    stop.request_stop();
    faults.forget();
    server->unblock();
  }

  static options patient() {
    auto settings = calm();
    settings.close_timeout = 60s;
    return settings;
  }

  // Another call, which gets no answer, keeps the worker for tasks busy.
  void keep_the_worker_busy() {
    faults.hang("list");
    busy_ = in_background([this] {
      try {
        std::ignore = admin{db}.list();
      } catch (const error&) {
        // The client gives the connection up when the statement's time is over.
      }
    });
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  }
  // How much time passes until the call ends.
  template <class Call>
  std::chrono::nanoseconds duration_of(Call call) {
    const auto begun = time.now();
    auto running = in_background(std::move(call));
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    running.get();
    return time.now() - begun;
  }
  // How much time passes from a stop request until the call ends.
  template <class Call>
  std::chrono::nanoseconds duration_after_stop(Call call) {
    auto running = in_background(std::move(call));
    const auto hangs = [&] { return server->blocked() > 0; };
    EXPECT_TRUE(soon([&] { return hangs(); }));
    const auto begun = time.now();
    stop.request_stop();
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    running.get();
    return time.now() - begun;
  }

  // This is less than statement_timeout, after which a statement's connection is given up.
  static constexpr auto well_before = 4s;

  client db = new_client(patient());
  std::stop_source stop;

 private:
  std::future<void> busy_;
};

TEST_F(call_limit_test, of_a_wait_at_a_latch) {
  latch ready{db, "ready", 1};
  ASSERT_FALSE(ready.try_wait());
  keep_the_worker_busy();
  EXPECT_LT(duration_of([&] { EXPECT_FALSE(ready.wait_for(100ms)); }), well_before);
}

TEST_F(call_limit_test, of_a_stopped_wait_at_a_latch) {
  latch ready{db, "ready", 1};
  ASSERT_FALSE(ready.try_wait());
  keep_the_worker_busy();
  EXPECT_LT(duration_after_stop(
                [&] { EXPECT_EQ(code_of([&] { ready.wait(stop.get_token()); }), errc::cancelled); }),
            well_before);
}

TEST_F(call_limit_test, of_a_stopped_arrival_at_a_latch) {
  latch ready{db, "ready", 2};
  ASSERT_FALSE(ready.try_wait());
  keep_the_worker_busy();
  EXPECT_LT(duration_after_stop([&] {
              EXPECT_EQ(code_of([&] { ready.arrive_and_wait(1, stop.get_token()); }), errc::cancelled);
            }),
            well_before);
}

TEST_F(call_limit_test, of_a_stopped_look_at_an_office) {
  const election office{db, "office"};
  faults.hang("show");
  EXPECT_LT(duration_after_stop([&] { EXPECT_FALSE(office.wait_for(1h, {}, stop.get_token()).led); }),
            well_before);
}

TEST_F(call_limit_test, of_a_stopped_request_for_a_lock) {
  // The holder is a process that ignores release requests.
  const auto session = server->open()->connect();
  const store::lease_record holder{model::lease_id::random(), {}, "elsewhere", 1, "", 1h};
  const model::lock_definition lock{"a"};
  session->record_database_state();
  session->create_lease(holder);
  session->create({&lock, 1});
  const store::acquire_item grant{"a", lock.kind, 1, holder.id, model::hold_id::random()};
  ASSERT_EQ(session->acquire({&grant, 1}).size(), 1U);
  faults.hang("show");
  EXPECT_LT(duration_after_stop([&] {
              const release_request_options how{.within = 1h, .then_force = true, .stop = stop.get_token()};
              EXPECT_EQ(admin{db}.request_release("a", how), release_request_result::kept);
            }),
            well_before);
  EXPECT_EQ(holder_of("a"), grant.hold.to_string());
}

// What was granted by then is released in the background.
TEST_F(call_limit_test, of_several_locks) {
  const client other = new_client();
  mutex a{db, "a"}, b{db, "b"};
  auto held = std::make_optional(mutex(other, "b").acquire());
  const auto took = duration_of([&] {
    auto asked = in_background([&] { return try_acquire_all_for(100ms, {a, b}); });
    EXPECT_TRUE(eventually([&] { return queued("b") == 1; }));
    keep_the_worker_busy();
    EXPECT_FALSE(asked.get());
  });
  EXPECT_LT(took, well_before);
  server->unblock();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(call_limit_test, of_many_holds_that_are_destroyed_in_an_outage) {
  const client quick = new_client();
  std::vector<hold> holds;
  for (int i = 0; i < 10; ++i) holds.push_back(mutex(quick, "a" + std::to_string(i)).acquire());
  faults.cut(true);
  EXPECT_LT(duration_of([&] { holds.clear(); }), 4 * calm().close_timeout);
  faults.cut(false);
}

// A time that nanoseconds cannot count means for ever, in every unit and on every clock.
TEST(time_limit_test, saturates_and_rounds_up) {
  using namespace std::chrono;
  EXPECT_EQ(time_limit(5s).length(), 5s);
  EXPECT_EQ(time_limit(duration<double>(0.25)).length(), 250ms);
  EXPECT_EQ(time_limit(duration<int, std::pico>(1)).length(), 1ns);
  EXPECT_EQ(time_limit(duration<int, std::pico>(-1)).length(), 0ns);
  EXPECT_EQ(time_limit(hours::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit(seconds::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit(nanoseconds::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit(duration<float, std::ratio<86400>>::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit(duration<std::int64_t, std::ratio<1, 3>>(27'000'000'000)).length(), 9'000'000'000s);
  EXPECT_LT(time_limit(hours::min()).length(), -24h * 365 * 200);
  EXPECT_EQ(time_limit::until(system_clock::time_point::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit::until(time_point<system_clock, hours>::max()).length(), nanoseconds::max());
  EXPECT_EQ(time_limit::until(steady_clock::time_point::max()).length(), nanoseconds::max());
  EXPECT_LT(time_limit::until(steady_clock::time_point::min()).length(), 0ns);
  EXPECT_LT(time_limit::until(time_point<system_clock, hours>::min()).length(), 0ns);
  const auto soon = time_limit::until(system_clock::now() + 1h).length();
  EXPECT_GT(soon, 59min);
  EXPECT_LE(soon, 1h);
}

class endless_wait_test : public client_test {
 protected:
  // Expects that the call waits, and is granted when the hold is gone.
  void expect_waits(const std::string& name, const std::function<bool()>& take) {
    auto held = std::make_optional(mutex(other, name).acquire());
    auto waiting = in_background(take);
    EXPECT_TRUE(
        eventually([&] { return queued(name) == 1 || waiting.wait_for(0s) == std::future_status::ready; }));
    held.reset();
    EXPECT_TRUE(waiting.get());
  }

  client db = new_client();
  client other = new_client();
};

TEST_P(endless_wait_test, is_what_the_longest_durations_ask_for) {
  using namespace std::chrono;
  mutex a{db, "a"};
  expect_waits("a", [&] { return a.try_acquire_for(hours::max()).valid(); });
  expect_waits("a", [&] { return a.try_acquire_until(steady_clock::time_point::max()).valid(); });
  expect_waits("a", [&] { return a.try_acquire_until(time_point<system_clock, hours>::max()).valid(); });
  const auto locks = [&](bool locked) {
    if (locked) a.unlock();
    return locked;
  };
  expect_waits("a", [&] { return locks(a.try_lock_for(hours::max())); });
  expect_waits("a", [&] { return locks(a.try_lock_for(nanoseconds::max())); });
  expect_waits("a", [&] { return locks(a.try_lock_until(system_clock::time_point::max())); });
  expect_waits("a", [&] { return try_acquire_all_for(hours::max(), {a}).valid(); });
  recursive_mutex r{db, "r"};
  expect_waits("r", [&] { return r.try_acquire_for(hours::max()).valid(); });
}

ROWLOCK_FOR_EACH_STORE(endless_wait_test);

}  // namespace
}  // namespace rowlock::test
