// The holder learns of a loss whatever fails on the way, and whenever the client learns of the hold.
#include "client/client_test.hpp"
#include "client/decision/decisions.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

// The server sends no wake-ups: only a renewal shows that something has changed.
class change_signal_test : public virtual_client_test {
 protected:
  // Whether the condition holds within this time on the virtual clock.
  bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
    for (auto passed = 0ms; passed < limit; passed += 50ms) {
      if (condition()) return true;
      advance(50ms);
      std::this_thread::sleep_for(2ms);
    }
    return eventually(condition);
  }
  void delete_lease(const model::lease_id& lease) {
    server->expire(lease);
    server->open()->connect()->kill(std::vector{lease}, 0us);
  }
  model::lease_id lease_of(const std::string& name) const {
    return *server->snapshot().locks.at(name).row.lease;
  }

  client db = (server->tell_nobody(), new_client());
  client rival = new_client();
};

TEST_F(change_signal_test, of_a_force_survives_a_check_that_fails) {
  const hold lost = mutex(db, "a").acquire();
  const hold kept = mutex(db, "b").acquire();
  ASSERT_TRUE(admin{rival}.release("a"));
  faults.refuse("find", 2);
  pass_renewals(db);
  EXPECT_TRUE(within(10s, [&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::forced);
  EXPECT_TRUE(kept);
}

TEST_F(change_signal_test, of_a_fail_over_survives_a_check_that_fails) {
  server->keep_history();
  const hold kept = mutex(db, "b").acquire();
  const hold lost = mutex(db, "a").acquire();
  server->fail_over("memory/2", 1);
  faults.refuse("record_database_state");
  faults.refuse("find", 2);
  pass_renewals(db);
  EXPECT_TRUE(within(10s, [&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::gone);
  EXPECT_TRUE(kept);
}

TEST_F(change_signal_test, of_a_request_survives_a_look_that_fails) {
  const hold held = mutex(db, "a").acquire();
  std::stop_source enough;
  auto asked = in_background([&] {
    return admin{rival}.request_release("a",
                                        {.reason = "a deploy", .within = 1h, .stop = enough.get_token()});
  });
  ASSERT_TRUE(eventually([&] { return faults.count("show") > 0; }));
  faults.refuse("find", 2);
  pass_renewals(db);
  EXPECT_TRUE(within(10s, [&] { return held.release_requested().stop_requested(); }));
  EXPECT_EQ(held.request().value_or(release_request{}).reason, "a deploy");
  enough.request_stop();
  EXPECT_EQ(asked.get(), release_request_result::kept);
}

TEST_F(change_signal_test, of_a_force_before_its_delivery_reaches_the_hold) {
  mutex(db, "a").acquire().release();
  advance(6s);
  faults.hang_answer("acquire");
  attempt taken{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  ASSERT_TRUE(admin{rival}.release("a"));
  const auto before = db.stats().renewals;
  advance(4s);
  ASSERT_TRUE(eventually([&] { return db.stats().renewals > before; }));
  std::this_thread::sleep_for(20ms);  // lets the check start that follows the renewal
  server->unblock();
  const hold lost = taken.take();
  EXPECT_TRUE(within(5s, [&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::forced);
}

TEST_F(change_signal_test, of_a_force_before_their_delivery_reaches_holds_that_were_acquired_together) {
  mutex(db, "a").acquire().release();
  mutex(db, "b").acquire().release();
  advance(6s);
  faults.hang_answer("acquire_all");
  auto taken = in_background([&] { return acquire_all({mutex{db, "a"}, mutex{db, "b"}}); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  ASSERT_TRUE(admin{rival}.release("a"));
  const auto before = db.stats().renewals;
  advance(4s);
  ASSERT_TRUE(eventually([&] { return db.stats().renewals > before; }));
  std::this_thread::sleep_for(20ms);
  server->unblock();
  const auto holds = taken.get();
  ASSERT_EQ(holds.size(), 2U);
  // If the loss was noticed before the hold was delivered, the lock was acquired again.
  const auto is_true = [&] { return !holds[0] || holder_of("a") == holds[0].id().to_string(); };
  EXPECT_TRUE(within(5s, is_true));
  EXPECT_TRUE(holds[1]);
}

TEST_F(change_signal_test, of_a_row_that_was_deleted_reaches_its_holder) {
  const hold kept = mutex(db, "b").acquire();
  const hold lost = mutex(db, "a").acquire();
  server->delete_lock("a");
  EXPECT_TRUE(within(30s, [&] { return lost.stop_token().stop_requested(); }));
  EXPECT_EQ(lost.loss(), loss::gone);
  EXPECT_TRUE(kept);
}

// ---- explicit-ttl holds, which outlive the lease of their process ----

class outliving_hold_test : public change_signal_test {
 protected:
  outliving_hold_test() {
    const auto first = lease_of("process");
    delete_lease(first);
    advance(10s);
    EXPECT_TRUE(eventually([&] { return of_process.stop_token().stop_requested(); }));
    EXPECT_TRUE(within(5s, [&] { return mutex(db, "other").try_acquire().valid(); }));
  }
  hold of_process = mutex(db, "process").acquire();
  hold held = mutex(db, "a").acquire({.ttl = 1h});
};

TEST_F(outliving_hold_test, hears_of_a_force) {
  ASSERT_TRUE(held);
  ASSERT_TRUE(admin{rival}.release("a"));
  EXPECT_TRUE(within(11s, [&] { return held.stop_token().stop_requested(); }));
  EXPECT_EQ(held.loss(), loss::forced);
}

TEST_F(outliving_hold_test, hears_of_a_request) {
  auto asked =
      in_background([&] { return admin{rival}.request_release("a", {.reason = "a deploy", .within = 1h}); });
  EXPECT_TRUE(within(11s, [&] { return held.release_requested().stop_requested(); }));
  held.release();
  EXPECT_TRUE(within(5s, [&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(asked.get(), release_request_result::released);
}

TEST_F(outliving_hold_test, hears_of_a_reclaim) {
  // Another client reclaims, because this one would refuse to reclaim its own hold.
  const auto other = server->open()->connect();
  const auto lease = model::lease_id::random();
  other->create_lease({lease, lease, "host", 1, "reclaims", 1h});
  const model::waiter mine{0, model::hold_id::random(), lease};
  const auto reclaim = [&, from = lease_of("a")](const store::lock_view& view) {
    return client_layer::decide_reclaim(view, model::hold_id{held.id()}, from, mine).change;
  };
  other->edit(std::vector<store::edit_request>{{"a", mine.hold, reclaim}});
  ASSERT_EQ(holder_of("a"), mine.hold.to_string());
  EXPECT_TRUE(within(11s, [&] { return held.stop_token().stop_requested(); }));
}

// ---- waiters ----

TEST_F(change_signal_test, a_poll_that_fails_is_followed_by_another) {
  auto settings = calm();
  client waits = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(waits, "a");
  faults.refuse("find", 1);
  advance(1s);
  ASSERT_TRUE(eventually([&] { return faults.count("find") > 0; }));
  delete_lease(lease_of("a"));
  EXPECT_TRUE(within(10s, [&] { return waiter.is_over(); }));
}

TEST_F(change_signal_test, what_the_database_refuses_for_good_is_reported_to_the_waiters) {
  client waits = new_client(calm());
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(waits, "a");
  faults.deny("find", 1'000'000);
  EXPECT_TRUE(within(20s, [&] { return waiter.is_over(); }));
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::privilege);
}

// A client without a lease makes no renewal, so nothing polls for its waiters.
TEST_F(change_signal_test, what_the_database_refuses_to_a_client_without_a_lease_is_reported_to_the_waiters) {
  client waits = new_client(calm());
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(waits, "a");
  for (const auto* verb : {"renew", "create_lease"}) faults.deny(verb, 1'000'000);
  EXPECT_TRUE(within(60s, [&] { return waiter.is_over(); }));
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::privilege);
}

TEST_F(change_signal_test, one_refusal_ends_no_wait) {
  client waits = new_client(calm());
  auto held = std::make_optional(mutex(db, "a").acquire());
  auto waiter = waiting(waits, "a");
  faults.deny("find", 1);
  advance(1s);
  ASSERT_TRUE(eventually([&] { return faults.count("find") > 0; }));
  held.reset();
  EXPECT_TRUE(within(10s, [&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

TEST_F(change_signal_test, a_waiter_whose_row_was_deleted_retries) {
  client waits = new_client(calm());
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(waits, "a");
  server->delete_lock("a");
  EXPECT_TRUE(within(10s, [&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

// Another connection of the same client grants the lock before the waiter is registered.
TEST_F(change_signal_test, a_grant_by_the_waiters_own_client_is_not_left_to_the_poll) {
  auto settings = calm();
  settings.poll_interval = 1h;
  client both = new_client(settings);
  shared_mutex a{both, "a"};
  hold held = a.acquire();
  faults.hang_answer("edit");
  auto reader = in_background([&] { return shared_mutex(both, "a").acquire_shared(); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  a.downgrade(held);
  server->unblock();
  // On a busy machine the request may be sent again after a pause of milliseconds.
  const auto begun = time.now();
  EXPECT_TRUE(soon([&] { return reader.wait_for(0s) == std::future_status::ready; }));
  EXPECT_LT(time.now() - begun, 100ms) << "far less than the poll's interval";
}

}  // namespace
}  // namespace rowlock::test
