// The close of a client.
#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class close_test : public client_test {
 protected:
  std::size_t leases() { return side().find_stale(100, -std::chrono::hours{24 * 365}).leases.size(); }
};

TEST_P(close_test, releases_everything_and_ends_the_lease) {
  client db = new_client();
  std::vector<hold> holds;
  for (int i = 0; i < 20; ++i) holds.push_back(mutex(db, "a" + std::to_string(i)).acquire());
  const hold with_ttl = mutex(db, "b").acquire({.ttl = 1h});
  EXPECT_EQ(leases(), 2U);
  db.close();
  for (const auto& held : holds) {
    EXPECT_EQ(held.loss(), loss::closed);
    EXPECT_FALSE(is_held(held.name()));
  }
  EXPECT_FALSE(is_held("b"));
  EXPECT_EQ(leases(), 0U);
}

TEST_P(close_test, hands_over_to_the_waiters) {
  client db = new_client();
  const client other = new_client();
  const hold held = mutex(db, "a").acquire();
  auto waiter = waiting(other, "a");
  db.close();
  EXPECT_GT(waiter.take().token(), held.token());
}

TEST_P(close_test, happens_with_the_last_handle) {
  std::optional<client> db = new_client();
  std::optional<client> copy = db;
  std::optional<hold> held = mutex(*db, "a").acquire();
  db.reset();
  EXPECT_TRUE(*held);
  copy.reset();
  EXPECT_TRUE(*held) << "a hold is a handle, too";
  EXPECT_EQ(leases(), 1U);
  held.reset();
  EXPECT_EQ(leases(), 0U);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(close_test, happens_with_the_last_hold_of_several_and_of_a_quorum) {
  auto all = [&] {
    const client db = new_client();
    return acquire_all({mutex{db, "a"}, mutex{db, "b"}});
  }();
  EXPECT_TRUE(all);
  auto kept = all.take(1);
  all = {};
  EXPECT_TRUE(kept);
  EXPECT_FALSE(is_held("a"));
  kept = {};
  EXPECT_EQ(leases(), 0U);
  std::optional<quorum_hold> most = quorum_mutex{{new_client()}, "c"}.acquire();
  EXPECT_TRUE(*most);
  EXPECT_EQ(leases(), 1U);
  most.reset();
  EXPECT_EQ(leases(), 0U);
}

TEST_P(close_test, of_holds_that_keep_it_open_ends_them) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  const client copy = db;
  db.close();
  EXPECT_EQ(held.loss(), loss::closed);
  EXPECT_FALSE(is_held("a"));
}

TEST_P(close_test, makes_later_calls_throw) {
  client db = new_client();
  mutex a{db, "a"};
  a.acquire().release();
  db.close();
  db.close();
  EXPECT_EQ(code_of([&] { std::ignore = a.acquire(); }), errc::closed);
  EXPECT_EQ(code_of([&] { std::ignore = a.try_acquire(); }), errc::closed);
  EXPECT_EQ(code_of([&] { std::ignore = a.try_acquire_for(1s); }), errc::closed);
  EXPECT_EQ(code_of([&] { a.lock(); }), errc::closed);
  EXPECT_EQ(code_of([&] { std::ignore = recursive_mutex(db, "a").acquire(); }), errc::closed);
  EXPECT_GT(db.stats().statements, 0U) << "counters can be read";
}

TEST_P(close_test, of_a_client_that_did_nothing_sends_nothing) {
  client db = new_client();
  db.close();
  EXPECT_EQ(db.stats().statements, 0U);
}

TEST_P(close_test, ends_a_wait_for_another_leader) {
  auto settings = slow_to_renew();
  settings.poll_interval = 1h;
  client watches = new_client(settings);
  election office{watches, "office"};
  auto seen = in_background([&] { return code_of([&] { std::ignore = office.wait(office.observe()); }); });
  ASSERT_TRUE(eventually([&] { return leases() == 1; }));
  watches.close();
  EXPECT_EQ(seen.get(), errc::closed);
}

TEST_P(close_test, ends_the_waits_of_its_threads) {
  client db = new_client();
  const client other = new_client();
  const hold held = mutex(other, "a").acquire();
  auto one = waiting(db, "a");
  auto two = waiting(db, "a");
  db.close();
  EXPECT_EQ(code_of([&] { std::ignore = one.take(); }), errc::closed);
  EXPECT_EQ(code_of([&] { std::ignore = two.take(); }), errc::closed);
  EXPECT_TRUE(eventually([&] { return admin(other).show("a")->waiters == 0; }));
}

TEST_P(close_test, beside_acquires_and_releases_of_other_threads_is_safe) {
  for (int round = 0; round < 5; ++round) {
    client db = new_client();
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([db, i] {
        try {
          for (;;) const hold held = mutex(db, "a" + std::to_string(i % 2)).acquire();
        } catch (const error& ended) {
          EXPECT_EQ(ended.code(), errc::closed);
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return db.stats().acquired > 3; }));
    db.close();
    workers.clear();
    EXPECT_EQ(leases(), 0U);
  }
}

ROWLOCK_FOR_EACH_STORE(close_test);

class close_clock_test : public virtual_client_test {};

TEST_F(close_clock_test, is_bounded_when_the_database_hangs) {
  auto settings = calm();
  settings.close_timeout = 2s;
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  for (const char* verb : {"release", "hand_over", "edit", "end"}) faults.hang(verb);
  const auto began = time.now();
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] {
    time.advance(10ms);
    return closed.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_LE(time.now() - began, 5s);
  EXPECT_EQ(held.loss(), loss::closed);
  // The client's threads end by themselves once the database answers.
  faults.forget();
  EXPECT_TRUE(eventually([&] {
    server->unblock();
    return leases() == 0;
  })) << "the lease must be gone too";
}

TEST_F(close_clock_test, closes_the_connections_while_handles_and_holds_live) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(eventually([&] { return server->sessions() == 3; }));
  db.close();
  EXPECT_EQ(server->sessions(), 0U);
  client unused = new_client();
  EXPECT_EQ(server->sessions(), 2U);
  unused.close();
  EXPECT_EQ(server->sessions(), 0U);
}

TEST_F(close_clock_test, ends_a_wait_that_enters_the_queue_meanwhile) {
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  client db = new_client();
  const hold mine = mutex(db, "b").acquire();
  faults.hang_answer("enqueue");
  attempt asked{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1 && queued("a") == 1; }));
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] { return mine.loss() == loss::closed; }));
  server->unblock();
  EXPECT_EQ(code_of([&] { std::ignore = asked.take(); }), errc::closed);
  closed.get();
  EXPECT_TRUE(soon([&] { return queued("a") == 0 || server->snapshot().leases.size() == 1; }));
}

TEST_F(close_clock_test, leaves_no_place_of_a_waiter_that_is_asked_for_again) {
  client other = new_client();
  const hold held = mutex(other, "a").acquire({.ttl = 5s});
  client db = new_client();
  attempt asked = waiting(db, "a");
  server->lock_row("a");
  const int edits = faults.count("edit");
  advance(8s);  // the hold has expired
  ASSERT_TRUE(soon([&] { return faults.count("edit") > edits; }));
  time.advance(0s);  // until the request waits for its next attempt
  server->unlock_row("a");
  db.close();
  EXPECT_EQ(code_of([&] { std::ignore = asked.take(); }), errc::closed);
  EXPECT_EQ(queued("a"), 0U);
}

TEST_F(close_clock_test, withdraws_what_is_granted_meanwhile) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  const hold mine = mutex(db, "b").acquire();
  faults.hang_answer("acquire");
  attempt asked{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] { return mine.loss() == loss::closed; }));
  server->unblock();
  closed.get();
  hold granted = asked.take();
  EXPECT_EQ(granted.loss(), loss::closed);
  EXPECT_TRUE(eventually([&] { return granted.stop_token().stop_requested(); }));
  EXPECT_EQ(granted.release(), release_result::lost);
  EXPECT_EQ(holder_of("a"), "");
  EXPECT_EQ(leases(), 0U);
}

TEST_F(close_clock_test, is_bounded_when_nothing_can_be_reached) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  faults.cut(true);
  auto closed = in_background([&] { db.close(); });
  EXPECT_TRUE(eventually([&] {
    time.advance(10ms);
    return closed.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_EQ(held.loss(), loss::closed);
}

}  // namespace
}  // namespace rowlock::test
