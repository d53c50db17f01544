// The client's one lease: renewed for all holds at once, lost before others can be granted, never revived.
#include "client/client_test.hpp"

#include <atomic>
#include <string_view>
#include <vector>

namespace rowlock::test {
namespace {

class lease_test : public virtual_client_test {
 protected:
  model::lease_id lease_of(const std::string& name) const {
    return *server->snapshot().locks.at(name).row.lease;
  }
};

TEST_F(lease_test, is_made_with_the_first_acquire_and_not_before) {
  client db = new_client();
  EXPECT_EQ(leases(), 0U);
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(leases(), 1U);
}

TEST_F(lease_test, is_made_by_no_administration) {
  client db = new_client();
  admin operations{db};
  std::ignore = operations.list();
  operations.release("a");
  operations.sweep();
  EXPECT_EQ(leases(), 0U);
}

TEST_F(lease_test, carries_any_number_of_holds_with_one_renewal_an_interval) {
  client db = new_client();
  std::vector<hold> holds;
  for (int i = 0; i < 300; ++i) holds.push_back(mutex(db, "a" + std::to_string(i)).acquire());
  EXPECT_EQ(leases(), 1U);
  const auto before = faults.count("renew");
  const auto statements = db.stats().statements;
  pass_renewals(db, 5);
  EXPECT_EQ(faults.count("renew"), before + 5);
  // Each renewal is followed by one statement that looks at some of the holds.
  EXPECT_EQ(db.stats().statements, statements + 10);
  for (const auto& held : holds) EXPECT_TRUE(held);
}

TEST_F(lease_test, keeps_a_hold_and_its_token_for_ever) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  const auto token = held.token();
  pass_renewals(db, 20);
  EXPECT_TRUE(held);
  EXPECT_EQ(held.token(), token);
  EXPECT_EQ(server->snapshot().locks.at("a").row.token, token.value());
}

TEST_F(lease_test, a_failed_renewal_is_tried_again) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  faults.lose_request("renew", 3);
  advance(10s);
  ASSERT_TRUE(soon([&] { return db.stats().renewals > 0; }));
  EXPECT_GE(faults.count("renew"), 4);
  EXPECT_TRUE(held);
  EXPECT_GE(db.stats().reconnects, 1U);
}

TEST_F(lease_test, that_cannot_be_renewed_is_lost_here_before_the_database_lets_others_in) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  const auto stop = held.stop_token();
  advance(5s);
  client rival = new_client();
  const hold other = mutex(rival, "b").acquire();
  for (const char* verb : {"renew", "create_lease"}) faults.lose_request(verb, 1'000'000);
  advance(23'900ms);
  EXPECT_TRUE(held);
  advance(100ms);
  EXPECT_FALSE(held);
  EXPECT_EQ(held.loss(), loss::expired);
  ASSERT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_FALSE(mutex(rival, "a").try_acquire()) << "the database waits one more second";
  advance(1s);
  EXPECT_TRUE(mutex(rival, "a").try_acquire());
}

TEST_F(lease_test, past_its_deadline_is_replaced_by_another) {
  std::atomic<bool> is_complete{false};
  auto settings = calm();
  settings.log = [&](log_level, std::string_view line) {
    if (line.starts_with("lease ")) is_complete = true;
  };
  client db = new_client(settings);
  const hold lost = mutex(db, "a").acquire();
  const auto first = lease_of("a");
  advance(30s);
  ASSERT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); }));
  // By then the thread that lost the lease has done everything that follows from the loss.
  ASSERT_TRUE(eventually([&] { return is_complete.load(); }));
  attempt next{db, "a"};
  ASSERT_TRUE(soon([&] { return next.is_over(); }));
  const hold anew = next.take();
  EXPECT_NE(lease_of("a"), first);
  EXPECT_GT(anew.token(), lost.token());
  EXPECT_TRUE(eventually([&] { return leases() == 1; })) << "the dead lease is ended, not left to expire";
}

TEST_F(lease_test, lost_is_not_ended_in_the_database_before_its_time) {
  client db = new_client();
  const hold lost = mutex(db, "a").acquire();
  const auto first = lease_of("a");
  faults.cut(true);
  advance(29s);
  ASSERT_TRUE(eventually([&] { return lost.stop_token().stop_requested(); }));
  faults.cut(false);
  attempt asked{db, "b"};
  // The keeper pauses before it tries again.
  ASSERT_TRUE(eventually([&, left = 900]() mutable {
    if (left > 0 && !asked.is_over()) advance(1ms), --left;
    return asked.is_over();
  }));
  const hold other = asked.take();
  EXPECT_EQ(leases(), 2U) << "the holder may not have been notified yet";
  EXPECT_EQ(faults.count("end"), 0);
  advance(1s);
  EXPECT_TRUE(eventually([&] { return leases() == 1; }));
  EXPECT_NE(lease_of("b"), first);
}

TEST_F(lease_test, is_lost_and_replaced_while_the_log_hangs) {
  std::promise<void> go_on;
  const auto released = go_on.get_future().share();
  auto settings = calm();
  settings.log = [released](log_level, std::string_view) { released.wait(); };
  client db = new_client(settings);
  const hold lost = mutex(db, "a").acquire();
  std::promise<void> told;
  const std::stop_callback tell{lost.stop_token(), [&] { told.set_value(); }};
  faults.cut(true);
  advance(29s);
  EXPECT_EQ(told.get_future().wait_for(30s), std::future_status::ready);
  faults.cut(false);
  attempt taken{db, "b"};
  EXPECT_TRUE(soon([&] { return taken.is_over(); }));
  EXPECT_TRUE(taken.take());
  go_on.set_value();
}

TEST_F(lease_test, its_death_makes_waiters_begin_anew) {
  client holder = new_client();
  auto held = std::make_optional(mutex(holder, "a").acquire());
  client db = new_client();
  auto waiter = waiting(db, "a");
  const auto ticket = server->snapshot().queues.at("a").begin()->second;
  server->expire(ticket.lease);
  server->open()->connect()->kill(std::vector{ticket.lease}, 0us);
  advance(10s);
  ASSERT_TRUE(eventually([&] {
    const auto tables = server->snapshot();
    const auto queue = tables.queues.find("a");
    return queue != tables.queues.end() && queue->second.rbegin()->second.lease != ticket.lease;
  }));
  held.reset();
  EXPECT_TRUE(waiter.take());
}

// The server's clock was 20 minutes ahead when a process renewed, and died.
TEST_F(lease_test, of_a_clock_that_was_ahead_blocks_for_its_ttl_at_most) {
  client dead = new_client();
  std::ignore = mutex(dead, "a").acquire().transfer(20s);
  std::ignore = mutex(dead, "b").acquire().transfer(20s);
  client db = new_client();
  auto waiter = waiting(db, "b");
  server->expire(lease_of("a"), -20min);
  server->expire(lease_of("b"), -20min);
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  advance(19s);
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  advance(2s);
  EXPECT_TRUE(mutex(db, "a").try_acquire());
  EXPECT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

TEST_F(lease_test, of_a_clock_that_was_ahead_stays_that_of_a_living_holder) {
  client holder = new_client();
  const hold held = mutex(holder, "a").acquire();
  client db = new_client();
  for (int i = 0; i < 6; ++i) {
    server->expire(lease_of("a"), -20min);
    EXPECT_FALSE(mutex(db, "a").try_acquire());
    pass_renewals(holder);
    EXPECT_TRUE(held);
  }
}

TEST_F(lease_test, an_answer_that_comes_after_the_deadline_proves_nothing) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  const auto first = lease_of("a");
  faults.hang_answer("renew");
  advance(24s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  // The time is not so long that the client gives up the connection: the client must refuse the answer itself.
  time.advance(5s);
  EXPECT_EQ(held.loss(), loss::expired);
  server->unblock();
  attempt taken{db, "b"};
  ASSERT_TRUE(soon([&] { return taken.is_over(); }));
  const hold anew = taken.take();
  EXPECT_FALSE(held);
  EXPECT_NE(lease_of("b"), first) << "the lease is over, renewed or not";
}

TEST_F(lease_test, its_time_begins_before_the_renewal_was_sent) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  faults.hang("renew");
  advance(10s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(4s);
  server->unblock();
  ASSERT_TRUE(eventually([&] { return db.stats().renewals == 1; }));
  EXPECT_EQ(held.remaining(), 30s - 4s - 1s - 30ms);
}

TEST_F(lease_test, its_time_begins_before_its_creation_was_sent) {
  client db = new_client();
  faults.hang("create_lease");
  attempt taken{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(4s);
  server->unblock();
  EXPECT_EQ(taken.take().remaining(), 30s - 4s - 1s - 30ms);
}

TEST_F(lease_test, a_grant_read_after_its_deadline_is_no_grant) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  faults.lose_request("renew", 1'000'000);
  advance(24s);
  faults.hang_answer("acquire");
  attempt taken{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto first = holder_of("a");
  advance(5s);
  server->unblock();
  ASSERT_TRUE(soon([&] { return taken.is_over(); }));
  const hold held = taken.take();
  EXPECT_NE(held.id().to_string(), first);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_F(lease_test, late_renewals_are_counted) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  advance(16s);
  ASSERT_TRUE(eventually([&] { return db.stats().renewals == 1; }));
  EXPECT_EQ(db.stats().late_renewals, 1U);
}

TEST_F(lease_test, expired_ones_of_others_are_swept_away_in_the_background) {
  auto settings = calm();
  settings.sweep_interval = 10s;
  client db = new_client(settings);
  const hold mine = mutex(db, "mine").acquire();
  // Another process took two locks and died.
  const auto vanished = server->open()->connect();
  const auto lease = model::lease_id::random();
  vanished->create_lease({lease, lease, "host", 1, "gone", 1s});
  vanished->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
  for (const char* name : {"a", "b"}) {
    vanished->acquire(std::vector<store::acquire_item>{
        {name, model::lock_kind::mutex, 1, lease, model::hold_id::random()}});
  }
  auto waiter = waiting(db, "a");
  EXPECT_EQ(leases(), 2U);
  advance(10s);
  EXPECT_TRUE(eventually([&] { return leases() == 1; }));
  // A further pass frees what the dead client held, without waiting for another interval.
  const auto killed_at = time.now();
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_LT(time.now() - killed_at, settings.sweep_interval);
  EXPECT_TRUE(waiter.take());
}

TEST_F(lease_test, all_expired_ones_of_others_are_swept_away_in_one_sweep) {
  auto settings = calm();
  settings.sweep_interval = 10s;
  client db = new_client(settings);
  const hold mine = mutex(db, "mine").acquire();
  const auto vanished = server->open()->connect();
  // These are more than one statement finds.
  for (int i = 0; i < 2500; ++i) {
    const auto lease = model::lease_id::random();
    vanished->create_lease({lease, lease, "host", 1, "gone", 1s});
  }
  ASSERT_EQ(leases(), 2501U);
  advance(10s);
  EXPECT_TRUE(eventually([&] { return leases() == 1; }));
}

TEST_F(lease_test, lost_is_notified_to_thousands_of_holders) {
  constexpr int many = 5'000;
  client db = new_client();
  std::vector<wanted> locks;
  for (int i = 0; i < many; ++i) locks.emplace_back(mutex{db, "a" + std::to_string(i)});
  const auto holds = acquire_all(locks);
  std::atomic<int> told{0};
  const auto tell = [&] { ++told; };
  std::vector<std::unique_ptr<std::stop_callback<decltype(tell)>>> callbacks;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    callbacks.push_back(std::make_unique<std::stop_callback<decltype(tell)>>(holds[i].stop_token(), tell));
  }
  faults.cut(true);
  advance(30s);
  EXPECT_TRUE(eventually([&] { return told.load() == many; }));
  faults.cut(false);
}

TEST_F(lease_test, of_others_are_not_swept_away_within_the_stored_skew) {
  auto settings = calm();
  settings.sweep_interval = 10s;
  client db = new_client(settings);
  admin{db}.set_skew(1h);
  const hold mine = mutex(db, "mine").acquire();
  const auto lease = model::lease_id::random();
  server->open()->connect()->create_lease({lease, lease, "host", 1, "lives", 30s});
  server->expire(lease, 59min);
  time.advance(10s);
  ASSERT_TRUE(eventually([&] { return faults.count("find_stale") > 0; }));
  time.advance(10s);
  ASSERT_TRUE(eventually([&] { return faults.count("find_stale") > 1; }));
  EXPECT_EQ(leases(), 2U);
  server->expire(lease, 61min);
  time.advance(10s);
  EXPECT_TRUE(eventually([&] { return leases() == 1; }));
}

// A client is refused more holds than it could notify within its margin.
TEST_F(lease_test, no_more_holds_than_the_margin_suffices_for) {
  auto settings = calm();
  settings.margin = 0ms;  // leaves a thousandth of the ttl
  settings.ttl = 6s;
  settings.renew_interval = 2s;
  settings.statement_timeout = 500ms;
  client db = new_client(settings);
  const auto ask_for = [&](int from, int count) {
    std::vector<wanted> locks;
    for (int i = from; i < from + count; ++i) locks.emplace_back(mutex{db, "a" + std::to_string(i)});
    return acquire_all(locks);
  };
  EXPECT_EQ(code_of([&] { std::ignore = ask_for(0, 1501); }), errc::invalid_argument);
  auto holds = ask_for(0, 1499);
  auto last = std::make_optional(mutex(db, "last").acquire());
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "one too many").try_acquire(); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = ask_for(2000, 1); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = shared_mutex(db, "s").acquire_shared(); }), errc::invalid_argument);
  try {
    std::ignore = mutex(db, "one too many").acquire();
  } catch (const error& failure) {
    EXPECT_THAT(failure.what(), testing::HasSubstr("options::margin at 0 ms it may have 1500"));
  }
  EXPECT_EQ(holder_of("one too many"), "");
  last->release();
  const auto one_more = std::make_optional(mutex(db, "one more").acquire());

  // A request that is under way counts as a hold until it is over.
  holds.release();
  faults.hang("acquire");
  std::atomic<int> over{0};
  const auto ask_async = [&](const std::string& name) {
    acquire_async([](rowlock::task next) { next(); }, mutex{db, name}, [&](const acquired&) { ++over; });
  };
  for (int i = 0; i < 1499; ++i) ask_async("b" + std::to_string(i));
  EXPECT_EQ(code_of([&] { ask_async("one too many"); }), errc::invalid_argument);
  server->unblock();
  EXPECT_TRUE(soon([&] { return over == 1499; }));
}

TEST_F(lease_test, of_others_are_not_swept_away_by_the_clock_of_another_server) {
  auto settings = calm();
  settings.sweep_interval = 10s;
  client db = new_client(settings);
  const hold mine = mutex(db, "mine").acquire();
  const auto other = server->open()->connect();
  const auto lease = model::lease_id::random();
  other->create_lease({lease, lease, "host", 1, "lives", 30s});
  server->change_identity("memory/2");
  server->expire(lease);
  time.advance(10s);
  ASSERT_TRUE(eventually([&] { return faults.count("find_stale") > 0; }));
  EXPECT_EQ(leases(), 2U);
}

}  // namespace
}  // namespace rowlock::test
