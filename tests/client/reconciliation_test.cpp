// Compares what the database says that a client holds with what the client knows. The client releases what it does not
// know, and nothing else.
#include "client/client_test.hpp"
#include "client/executors.hpp"

#include "support/background.hpp"

#include <vector>

namespace rowlock::test {
namespace {

using model::hold_id;

class reconciliation_test : public virtual_client_test {
 protected:
  // Makes a grant that came when its caller had given up.
  hold_id orphan_on(model::lease_id lease, const std::string& name) {
    const auto session = server->open()->connect();
    session->create(std::vector<model::lock_definition>{{name, model::lock_kind::mutex, 1}});
    const store::acquire_item request{name, model::lock_kind::mutex, 1, lease, hold_id::random()};
    EXPECT_EQ(session->acquire(std::vector{request}).size(), 1U);
    return request.hold;
  }
  model::lease_id lease_of(const std::string& name) const {
    return *server->snapshot().locks.at(name).row.lease;
  }
  // Makes the client read what it holds, and waits until it has read everything.
  void read_all() {
    const auto before = faults.count("read_held");
    server->lose_marker();
    pass_renewals(db);
    ASSERT_TRUE(soon([&] { return faults.count("read_held") > before; }));
    // By now the client has released what it found, or it will not release it.
    int steps = 0;
    soon([&] { return ++steps > 100; });
    mutex(db, "something else").acquire().release();
  }

  client db = new_client();
};

TEST_F(reconciliation_test, a_grant_that_nobody_here_has_is_released) {
  const hold held = mutex(db, "a").acquire();
  orphan_on(lease_of("a"), "b");
  server->lose_marker();
  pass_renewals(db);
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  EXPECT_TRUE(held);
}

TEST_F(reconciliation_test, a_durable_release_that_a_fail_over_lost_is_done_again) {
  server->keep_history();
  const hold kept = mutex(db, "a").acquire();
  hold held = mutex(db, "b").acquire();
  const auto id = held.id().to_string();
  // The fail-over brings back a hold that nobody knows: the standby has seen neither the release nor the renewal after
  // it.
  ASSERT_EQ(held.release(), release_result::released);
  advance(1ms);
  pass_renewals(db);
  server->fail_over("memory/2", 2);
  ASSERT_EQ(holder_of("b"), id) << "the hold stands again";
  pass_renewals(db);
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_TRUE(kept);
}

TEST_F(reconciliation_test, a_hand_over_that_a_fail_over_lost_is_done_again) {
  server->keep_history();
  client other = new_client();
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto id = held->id().to_string();
  auto waiter = waiting(other, "a");
  held->release();
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  const hold next = waiter.take();
  server->fail_over("memory/2", 1);
  ASSERT_EQ(holder_of("a"), id) << "the first hold stands again";
  pass_renewals(db);
  EXPECT_TRUE(soon([&] { return holder_of("a") != id; }));
}

TEST_F(reconciliation_test, a_place_that_a_fail_over_brings_back_is_withdrawn_although_its_request_is_kept) {
  server->keep_history();
  client other = new_client();
  hold held = mutex(other, "a").acquire();
  hand_executor never_runs;
  acquire_async(never_runs.get(), mutex{db, "a"}, [](const acquired&) {});
  ASSERT_TRUE(soon([&] { return queued("a") == 1; }));
  ASSERT_EQ(held.release(), release_result::released);
  ASSERT_TRUE(soon([&] { return never_runs.size() == 1; }));
  server->fail_over("memory/2", 1);
  ASSERT_EQ(queued("a"), 1U) << "it waits again, and its caller was granted the lock";
  pass_renewals(db);
  pass_renewals(other);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty() && queued("a") == 0; }));
}

TEST_F(reconciliation_test, a_place_in_a_queue_that_nobody_waits_in_is_withdrawn) {
  client other = new_client();
  const hold mine = mutex(other, "mine").acquire();
  const hold held = mutex(db, "a").acquire();
  const auto session = server->open()->connect();
  const store::acquire_item request{"a", model::lock_kind::mutex, 1, lease_of("mine"), hold_id::random()};
  ASSERT_TRUE(session->enqueue(request, 0us));
  ASSERT_EQ(queued("a"), 1U);
  server->lose_marker();
  pass_renewals(other);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_F(reconciliation_test, holds_and_waits_that_the_client_knows_are_left_alone) {
  client other = new_client();
  const hold exclusive = mutex(db, "a").acquire();
  const hold elsewhere = mutex(other, "b").acquire();
  shared_mutex catalog{db, "s"};
  const hold reader = catalog.acquire_shared();
  counting_semaphore pool{db, "p", 5};
  const hold permits = pool.acquire(2);
  const hold with_ttl = mutex(db, "t").acquire({.ttl = 1h});
  latch gate{db, "l", 2};
  gate.count_down();
  mutex(db, "r").acquire({.min_hold = 1h}).release();
  auto waiter = waiting(db, "b");
  barrier phase{db, "phase", 2};
  std::stop_source stop;
  auto member = in_background([&] { return code_of([&] { phase.arrive_and_wait(stop.get_token()); }); });
  ASSERT_TRUE(eventually([&] { return queued("phase") == 1; }));
  const auto before = server->snapshot();
  read_all();
  const auto after = server->snapshot();
  for (const auto* name : {"a", "b", "s", "p", "t", "l", "r", "phase"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(after.locks.at(name).row.hold, before.locks.at(name).row.hold);
    EXPECT_EQ(after.locks.at(name).row.lease, before.locks.at(name).row.lease);
    EXPECT_EQ(after.locks.at(name).row.in_use, before.locks.at(name).row.in_use);
  }
  EXPECT_EQ(queued("b"), 1U);
  EXPECT_EQ(queued("phase"), 1U);
  for (const auto* one : {&exclusive, &elsewhere, &reader, &permits, &with_ttl}) EXPECT_TRUE(*one);
  stop.request_stop();
  ASSERT_TRUE(soon([&] { return member.wait_for(0s) == std::future_status::ready; }));
  waiter.stop();
}

TEST_F(reconciliation_test, a_hold_whose_ttl_has_ended_is_no_surprise) {
  std::mutex mutex_of_lines;
  std::vector<std::string> warnings;
  auto settings = calm();
  settings.log = [&](log_level level, std::string_view line) {
    const std::lock_guard lock{mutex_of_lines};
    if (level >= log_level::warning && line.find("released") != line.npos) warnings.emplace_back(line);
  };
  {
    client logging = new_client(settings);
    const hold over = mutex(logging, "a").acquire({.ttl = 5s});
    pass_renewals(logging);
    ASSERT_EQ(over.loss(), loss::expired);
    ASSERT_EQ(holder_of("a"), over.id().to_string()) << "nobody has wanted it since";
    server->lose_marker();
    pass_renewals(logging);
    EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  }
  EXPECT_THAT(warnings, testing::IsEmpty());
}

TEST_F(reconciliation_test, what_is_under_way_while_it_reads_is_left_alone) {
  auto settings = calm();
  settings.connections = 4;  // two of them acquire
  client busy = new_client(settings);
  mutex(busy, "b").acquire().release();
  faults.hang_answer("acquire");
  attempt asked{busy, "b"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto granted = holder_of("b");
  ASSERT_NE(granted, "") << "granted, and the client does not know it";
  orphan_on(lease_of("b"), "c");
  server->lose_marker();
  pass_renewals(busy);
  ASSERT_TRUE(soon([&] { return holder_of("c").empty(); })) << "it has read all names";
  EXPECT_EQ(holder_of("b"), granted);
  server->unblock();
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_EQ(asked.take().id().to_string(), granted);
}

TEST_F(reconciliation_test, goes_on_after_failures) {
  const hold held = mutex(db, "a").acquire();
  orphan_on(lease_of("a"), "b");
  faults.deny("read_held", 3);
  faults.lose_answer("read_held");
  server->lose_marker();
  const auto renewals = db.stats().renewals;
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_GT(db.stats().renewals, renewals);
  EXPECT_GE(faults.count("read_held"), 5) << "three refusals, a lost answer, and the last";
  EXPECT_TRUE(held);
}

TEST_F(reconciliation_test, reads_page_by_page) {
  const hold held = mutex(db, "a").acquire();
  {
    const auto session = server->open()->connect();
    std::vector<model::lock_definition> names;
    for (int i = 10'000; i < 12'500; ++i)
      names.push_back({"n" + std::to_string(i), model::lock_kind::mutex, 1});
    session->create(names);
  }
  orphan_on(lease_of("a"), "z");
  server->lose_marker();
  pass_renewals(db);
  EXPECT_TRUE(soon([&] { return holder_of("z").empty(); }));
  EXPECT_GE(faults.count("read_held"), 3);
}

TEST_F(reconciliation_test, an_orphan_that_nothing_shows_is_released_within_ten_minutes) {
  const hold held = mutex(db, "a").acquire();
  orphan_on(lease_of("a"), "b");
  pass_renewals(db, 20);
  EXPECT_EQ(faults.count("read_held"), 0) << "nothing demands it";
  pass_renewals(db, 42);
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_LE(faults.count("read_held"), 2);
  EXPECT_TRUE(held);
}

TEST_F(reconciliation_test, a_client_that_has_nothing_and_asks_for_nothing_reads_nothing) {
  mutex(db, "a").acquire().release();
  pass_renewals(db, 62);
  ASSERT_TRUE(soon([&] { return faults.count("read_held") == 1; }))
      << "a request may have been granted twice";
  pass_renewals(db, 180);
  EXPECT_EQ(faults.count("read_held"), 1);
}

TEST_F(reconciliation_test, what_a_ghost_does_late_is_looked_for_at_growing_intervals) {
  server->name_backends();
  client other = new_client();
  mutex(other, "b").acquire().release();
  faults.leave_ghost("acquire");
  faults.refuse("end_ghost", 1'000'000);
  attempt asked{other, "b"};
  ASSERT_TRUE(soon([&] { return faults.count("end_ghost") > 0; }));
  asked.stop();
  EXPECT_EQ(code_of([&] { std::ignore = asked.take(); }), errc::cancelled);
  pass_renewals(other, 4);
  ASSERT_TRUE(soon([&] { return faults.count("read_held") == 1; })) << "when the server should have ended it";
  server->run_ghosts();
  ASSERT_NE(holder_of("b"), "") << "granted, though nobody waits";
  pass_renewals(other, 7);
  EXPECT_TRUE(soon([&] { return holder_of("b").empty(); }));
  EXPECT_EQ(faults.count("read_held"), 2);
  pass_renewals(other, 40);
  EXPECT_LE(faults.count("read_held"), 5) << "the intervals grow";
}

TEST_F(reconciliation_test, a_release_that_the_database_refuses_is_retried_while_the_lease_lives) {
  hold held = mutex(db, "a").acquire();
  faults.deny("release", 1000);
  faults.deny("edit", 1000);
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::unknown);
  const auto tries = [&] { return faults.count("release") + faults.count("edit"); };
  int steps = 0;
  soon([&] { return ++steps > 800; });
  EXPECT_LT(tries(), 60) << "the pauses grow";
  faults.forget();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(reconciliation_test, the_withdrawal_of_a_wait_that_the_database_refuses_is_retried_too) {
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  auto waiter = waiting(db, "a");
  faults.deny("edit", 1000);
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  ASSERT_TRUE(soon([&] { return faults.count("edit") > 30; }));
  faults.forget();
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
}

}  // namespace
}  // namespace rowlock::test
