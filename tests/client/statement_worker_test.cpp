// What happens when a worker's statement fails: which callers learn of it, which requests go on, and how often the
// statement is repeated.
#include "client/client_test.hpp"

#include "support/background.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace rowlock::test {
namespace {

class statement_worker_test : public virtual_client_test {
 protected:
  // One connection for everything, so requests that are submitted while it hangs become one batch.
  static options narrow() {
    auto settings = calm();
    settings.connections = 2;
    return settings;
  }
  // Makes the server full: the next releases break the workers' connections, and no new connection can be made. The
  // lease's connection stays. clients: how many are open.
  void break_workers(std::size_t clients = 1) {
    ASSERT_TRUE(eventually([&] { return server->sessions() == 3 * clients; }));
    faults.refuse_unreachable("connect", 1'000'000);
    faults.lose_request("release", 2);
  }
  // The statement of one request hangs until these names are queued and make the next batch. From that statement on,
  // the first `refusals` statements are refused. Returns how many requests of the batch are refused.
  int refused_of_a_batch(client& db, const std::vector<std::string>& names, int refusals) {
    const auto hangs = std::make_shared<std::atomic<bool>>(true);
    const auto left = std::make_shared<std::atomic<int>>(refusals);
    server->on_call([=, this](store::memory_call& call) {
      if (!call.before("acquire") && !call.before("enqueue") && !call.before("edit")) return;
      if (hangs->exchange(false)) call.block();
      ++asked_;
      if (left->fetch_sub(1) > 0) throw error(errc::privilege, "refused by the test");
    });
    attempt first{db, "first"};
    EXPECT_TRUE(eventually([&] { return server->blocked() == 1; }));
    const auto over = std::make_shared<std::atomic<std::size_t>>(0);
    const auto refused = std::make_shared<std::atomic<int>>(0);
    for (const auto& name : names) {
      acquire_async([](rowlock::task next) { next(); }, mutex{db, name},
                    [over, refused](const acquired& got) {
                      *refused += got.failure ? 1 : 0;
                      ++*over;
                    });
    }
    asked_ = 0;
    server->unblock();
    EXPECT_TRUE(soon([&] { return *over == names.size(); }));
    EXPECT_EQ(code_of([&] { std::ignore = first.take(); }), errc::privilege);
    return *refused;
  }
  std::atomic<int> asked_{0};  // how many statements came since the one that hung

  // Makes so many asynchronous requests for "a", until they are stopped. over: counts those that have ended.
  void queue_up(const client& db, std::size_t many, const std::stop_source& stop, std::atomic<int>& over) {
    for (std::size_t i = 0; i < many; ++i) {
      acquire_async([](rowlock::task next) { next(); }, mutex{db, "a"}, [&](const acquired&) { ++over; },
                    {.stop = stop.get_token()});
    }
    ASSERT_TRUE(eventually([&] { return queued("a") == many; }));
  }
  void pass(std::chrono::milliseconds length) {
    const auto end = time.now() + length;
    soon([&] { return time.now() >= end; });
  }
};

TEST_F(statement_worker_test, the_edit_of_a_lone_request_with_an_explicit_ttl_is_sent_by_its_callers_thread) {
  client db = new_client();
  const auto edits = std::make_shared<std::map<std::thread::id, int>>();
  const auto mutex_of_edits = std::make_shared<std::mutex>();
  server->on_call([=](store::memory_call& call) {
    const std::lock_guard lock{*mutex_of_edits};
    if (call.before("edit")) ++(*edits)[std::this_thread::get_id()];
  });
  EXPECT_TRUE(eventually([&] {
    mutex(db, "a").acquire({.ttl = 5s}).release();
    const std::lock_guard lock{*mutex_of_edits};
    return edits->contains(std::this_thread::get_id());
  })) << "unless a worker is busy at that moment";
}

TEST_F(statement_worker_test, one_bad_request_fails_nobody_else_of_its_batch) {
  client db = new_client(narrow());
  mutex(db, "first").acquire().release();
  EXPECT_EQ(refused_of_a_batch(db, {"a", "b", "c", "d"}, 3), 1) << "the one that was refused alone, too";
}

// If three threads request a bad name again and again, that does not show that the database refuses everything.
TEST_F(statement_worker_test, bad_requests_fail_nobody_of_the_next_batch) {
  client db = new_client(narrow());
  mutex(db, "first").acquire().release();
  EXPECT_EQ(refused_of_a_batch(db, {"a", "b", "c"}, 5), 3);
  EXPECT_EQ(refused_of_a_batch(db, {"d", "e", "f", "g"}, 2), 0);
}

TEST_F(statement_worker_test, a_database_that_refuses_everything_is_asked_once_more_for_each_request) {
  client db = new_client(narrow());
  mutex(db, "first").acquire().release();
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("a" + std::to_string(i));
  EXPECT_EQ(refused_of_a_batch(db, names, 1'000'000), 40);
  EXPECT_EQ(asked_, 1 + 1 + 40);
}

TEST_F(statement_worker_test, what_was_refused_for_good_is_reported_once_and_leaves_nothing_to_withdraw) {
  std::atomic<int> lines{0};
  auto settings = narrow();
  settings.log = [&](log_level level, std::string_view) { lines += level > log_level::info ? 1 : 0; };
  client db = new_client(settings);
  mutex(db, "a").acquire().release();
  for (const auto* verb : {"acquire", "edit"}) faults.deny(verb, 1'000'000);
  const auto tries = [&] { return faults.count("acquire") + faults.count("edit"); };
  const auto tried = tries();
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").try_acquire(); }), errc::privilege);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "a").acquire(); }), errc::privilege);
  pass(1s);
  EXPECT_EQ(tries(), tried + 2);
  EXPECT_EQ(lines, 0);
}

// The lease ends when the client closes, and the place in the queue ends with the lease.
TEST_F(statement_worker_test, close_does_not_wait_for_a_withdrawal_that_is_denied) {
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  client db = new_client(narrow());
  auto waiter = waiting(db, "a");
  faults.deny("edit", 1'000'000);
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  const auto begun = time.now();
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_LT(time.now() - begun, 1s);
  EXPECT_EQ(leases(), 1U);
}

TEST_F(statement_worker_test, what_hinders_the_lease_is_logged_less_and_less) {
  std::atomic<int> lines{0};
  auto settings = narrow();
  settings.log = [&](log_level, std::string_view) { ++lines; };
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  faults.deny("renew", 1'000'000);
  pass(18s);
  EXPECT_GT(faults.count("renew"), 5);
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 4);
}

TEST_F(statement_worker_test, an_attempt_that_would_not_wait_waits_for_a_row_also_after_a_lost_connection) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  server->lock_row("a");
  faults.lose_request("acquire");
  auto tried = in_background([&] { return mutex(db, "a").try_acquire().valid(); });
  const auto edits = faults.count("edit");
  ASSERT_TRUE(eventually([&] {
    time.advance(5ms);
    return faults.count("edit") > edits + 2 || tried.wait_for(0s) == std::future_status::ready;
  }));
  server->unlock_row("a");
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(tried.get()) << "a row that is locked for a moment is not busy";
}

// A row that stays locked while nobody holds its lock is not busy. If a job took the lock for held, the job would not
// run.
TEST_F(statement_worker_test, a_row_that_stays_locked_is_contention_for_an_attempt_that_would_not_wait) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  server->lock_row("a");
  const auto begun = time.now();
  auto tried = in_background([&] { return code_of([&] { std::ignore = mutex(db, "a").try_acquire(); }); });
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(tried.get(), errc::contention);
  EXPECT_LT(time.now() - begun, 1500ms);
  server->unlock_row("a");
  EXPECT_TRUE(eventually([&] { return queued("a") == 0 && holder_of("a").empty(); }));
}

TEST_F(statement_worker_test, a_row_that_stays_locked_is_contention_when_the_time_is_up) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  server->lock_row("a");
  auto tried =
      in_background([&] { return code_of([&] { std::ignore = mutex(db, "a").try_acquire_for(2s); }); });
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(tried.get(), errc::contention);
  server->unlock_row("a");
}

TEST_F(statement_worker_test, a_lock_that_is_held_is_busy_also_while_its_row_is_locked) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  server->lock_row("a");
  client rival = new_client();
  for (const auto limit : {0s, 2s}) {
    auto tried = in_background([&] { return mutex(rival, "a").try_acquire_for(limit).valid(); });
    ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
    EXPECT_FALSE(tried.get());
  }
  server->unlock_row("a");
}

TEST_F(statement_worker_test, an_outage_is_reported_when_the_time_is_up_unless_the_lock_was_seen_to_be_busy) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  client rival = new_client();
  const auto timed = [&] { return code_of([&] { std::ignore = mutex(rival, "a").try_acquire_for(5s); }); };
  const auto answered = [&](auto& asked) {
    return soon([&] { return asked.wait_for(0s) == std::future_status::ready; });
  };
  auto queued_before =
      in_background([&] { EXPECT_FALSE(mutex(rival, "a").try_acquire_for(5s)) << "it was seen to be held"; });
  ASSERT_TRUE(eventually([&] { return queued("a") == 1; }));
  faults.cut(true);
  auto asked = in_background(timed);
  ASSERT_TRUE(answered(asked));
  EXPECT_EQ(asked.get(), errc::unreachable);
  ASSERT_TRUE(answered(queued_before));
  faults.cut(false);
}

TEST_F(statement_worker_test, an_outage_that_is_over_is_not_reported_when_the_time_is_up) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  client rival = new_client();
  mutex(rival, "b").acquire().release();
  server->lock_row("a");  // so the request cannot enter the queue
  faults.lose_request("acquire");
  auto tried = in_background([&] { return mutex(rival, "a").try_acquire_for(5s).valid(); });
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_FALSE(tried.get()) << "the database has answered since";
  server->unlock_row("a");
}

// Nobody is known to hold the lock. If the result were busy, a job whose database hangs would believe that it runs
// elsewhere.
TEST_F(statement_worker_test, a_database_that_answers_nothing_is_unreachable_when_the_time_is_up) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  const auto outcome = [&](const std::string& verb, auto call) -> std::optional<errc> {
    faults.hang(verb);
    auto asked = in_background([&]() -> std::optional<errc> {
      try {
        call();
        return {};
      } catch (const error& thrown) {
        return thrown.kind();
      }
    });
    EXPECT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
    const auto got = asked.get();
    EXPECT_EQ(server->blocked(), 1U);
    server->unblock();
    EXPECT_TRUE(soon([&] { return holder_of("a").empty() && queued("a") == 0; }));
    return got;
  };
  const auto waits = [&](std::chrono::milliseconds limit) {
    return [&db, limit] { EXPECT_FALSE(mutex(db, "a").try_acquire_for(limit)); };
  };
  EXPECT_EQ(outcome("acquire", waits(1s)), errc::unreachable);
  EXPECT_EQ(outcome("acquire", waits(200ms)), std::nullopt) << "too short to tell";
  const auto both = [&] { EXPECT_FALSE(try_acquire_all_for(1s, {mutex(db, "a"), mutex(db, "b")})); };
  EXPECT_EQ(outcome("edit", both), errc::unreachable);
}

TEST_F(statement_worker_test, a_lock_that_was_seen_to_be_held_is_busy_although_the_next_statement_hangs) {
  client db = new_client();
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  faults.hang("enqueue");
  auto asked = in_background([&] { return mutex(db, "a").try_acquire_for(1s).valid(); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_FALSE(asked.get());
  EXPECT_EQ(server->blocked(), 1U);
  server->unblock();
}

TEST_F(statement_worker_test, a_release_waits_for_a_row_also_after_a_lost_connection) {
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  server->lock_row("a");
  faults.lose_request("release");
  auto released = in_background([&] { return held.release(); });
  const auto edits = faults.count("edit");
  ASSERT_TRUE(eventually([&] {
    time.advance(2ms);
    return faults.count("edit") > edits + 2 || released.wait_for(0s) == std::future_status::ready;
  }));
  server->unlock_row("a");
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released);
}

TEST_F(statement_worker_test, a_failure_that_lasts_is_retried_and_logged_less_and_less) {
  std::atomic<int> lines{0};
  auto settings = calm();
  settings.log = [&](log_level, std::string_view) { ++lines; };
  client db = new_client(settings);
  mutex(db, "a").acquire().release();
  faults.refuse("acquire", 1'000'000);
  faults.refuse("edit", 1'000'000);
  attempt asked{db, "a"};
  const auto before = lines.load();
  const auto tries = [&] { return faults.count("acquire") + faults.count("edit"); };
  const auto tried = tries();
  pass(6s);
  EXPECT_GT(tries(), tried + 3);
  EXPECT_LT(tries(), tried + 60);
  EXPECT_LT(lines.load() - before, 15);
  faults.forget();
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_TRUE(asked.take());
}

TEST_F(statement_worker_test, a_waiter_beside_a_guarded_transaction_of_a_dead_holder_does_not_spin) {
  client db = new_client();
  client other = new_client();
  hold held = mutex(other, "a").acquire();
  auto waiter = waiting(db, "a");
  const auto lease = *server->snapshot().locks.at("a").row.lease;
  ASSERT_TRUE(server->guard("a", model::hold_id{held.id()}));
  server->expire(lease);
  const auto session = server->open()->connect();
  ASSERT_EQ(session->kill(std::vector{lease}, 0us).size(), 1U);
  const auto before = faults.count("edit") + faults.count("enqueue");
  pass(4s);
  EXPECT_LT(faults.count("edit") + faults.count("enqueue"), before + 60);
  EXPECT_FALSE(waiter.is_over());
  // The client does not look with each wake-up either, of which a busy database sends many.
  const auto whom = server->snapshot().queues.at("a").begin()->second.lease;
  const auto edits = faults.count("edit");
  for (int wakeups = 0; wakeups < 50; ++wakeups) {
    // While a worker has the request, an edit tells the worker whether the request is granted.
    const auto looks = [&] { return faults.count("find") + faults.count("edit"); };
    const auto before_it = looks();
    session->send_wakeups(std::vector{store::wakeup{whom}});
    ASSERT_TRUE(eventually([&] { return looks() > before_it; }));
  }
  EXPECT_LE(faults.count("edit"), edits + 2);
  server->unguard("a");
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

TEST_F(statement_worker_test, sweeps_of_a_guarded_row_do_not_pile_up) {
  auto settings = calm();
  settings.sweep_interval = 100ms;
  client other = new_client();
  hold held = mutex(other, "a").acquire();
  const auto lease = *server->snapshot().locks.at("a").row.lease;
  ASSERT_TRUE(server->guard("a", model::hold_id{held.id()}));
  server->expire(lease);
  client db = new_client(settings);
  mutex(db, "b").acquire().release();
  pass(2s);
  const auto sweeps = faults.count("find_stale");
  const auto edits = faults.count("edit");
  pass(10s);
  EXPECT_GT(faults.count("find_stale"), sweeps + 20) << "the sweep looks for what the dead hold";
  EXPECT_LT(faults.count("edit"), edits + 30);
  server->unguard("a");
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(statement_worker_test, a_withdrawal_is_no_release) {
  client db = new_client();
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  auto waiter = waiting(db, "a");
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  ASSERT_TRUE(soon([&] { return queued("a") == 0; }));
  pass(100ms);
  EXPECT_EQ(db.stats().released, 0U);
}

TEST_F(statement_worker_test, a_release_keeps_its_caller_no_longer_than_close_timeout) {
  auto settings = calm();
  settings.close_timeout = 2s;
  client db = new_client(settings);
  hold held = mutex(db, "a").acquire();
  faults.hang("release");
  const auto begun = time.now();
  auto released = in_background([&] {
    const auto result = held.release();
    return std::pair{result, time.now() - begun};
  });
  ASSERT_TRUE(eventually([&] {
    time.advance(10ms);
    return released.wait_for(1ms) == std::future_status::ready;
  }));
  const auto [result, took] = released.get();
  EXPECT_EQ(result, release_result::unknown);
  EXPECT_LE(took, 2s + 100ms);
  server->unblock();
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
}

TEST_F(statement_worker_test, a_limited_wait_at_a_latch_ends_in_time_behind_a_busy_worker) {
  client db = new_client(narrow());
  latch gate{db, "l", 1};
  EXPECT_FALSE(gate.try_wait());
  mutex(db, "a").acquire().release();
  faults.hang("acquire");
  attempt asked{db, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto begun = time.now();
  auto waited = in_background([&] {
    const bool open = gate.wait_for(100ms);
    return std::pair{open, time.now() - begun};
  });
  ASSERT_TRUE(eventually([&] {
    time.advance(5ms);
    return waited.wait_for(1ms) == std::future_status::ready;
  }));
  const auto [open, took] = waited.get();
  EXPECT_FALSE(open);
  EXPECT_LE(took, 200ms);
  server->unblock();
}

TEST_F(statement_worker_test, without_a_worker_the_leases_connection_sends_releases) {
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  hold other = mutex(db, "b").acquire();
  break_workers();
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released);
  EXPECT_EQ(holder_of("a"), "");
  EXPECT_EQ(other.release(), release_result::released) << "at once: this client need not find out again";
  EXPECT_EQ(server->sessions(), 1U);
  EXPECT_EQ(code_of([&] { std::ignore = mutex(db, "c").try_acquire(); }), errc::unreachable);
}

TEST_F(statement_worker_test, without_a_worker_the_leases_connection_takes_waiters_out_of_the_queue) {
  client db = new_client();
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  auto waiter = waiting(db, "a");
  hold mine = mutex(db, "b").acquire();
  break_workers(2);
  auto released = in_background([&] { return mine.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  waiter.stop();
  EXPECT_EQ(code_of([&] { std::ignore = waiter.take(); }), errc::cancelled);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
}

TEST_F(statement_worker_test, a_renewal_waits_for_one_statement_of_a_release_at_most) {
  client db = new_client();
  const hold kept = mutex(db, "b").acquire();
  hold held = mutex(db, "a").acquire();
  server->lock_row("a");  // one statement does not release the lock, and others follow
  advance(8s);
  break_workers();
  faults.hang("release");
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return server->blocked() == 1; })) << "on the lease's connection";
  const auto tries = [&] { return faults.count("hand_over") + faults.count("edit"); };
  const auto tried = tries();
  const auto renewals = faults.count("renew");
  faults.hang("renew");
  advance(3s);
  server->unblock();
  ASSERT_TRUE(eventually([&] { return faults.count("renew") > renewals; }));
  EXPECT_EQ(tries(), tried);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  server->unblock();
  server->unlock_row("a");
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); }));
  EXPECT_TRUE(kept);
  released.wait();
}

TEST_F(statement_worker_test, a_client_without_workers_releases_all_when_it_closes) {
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  const hold kept = mutex(db, "b").acquire();
  break_workers();
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(holder_of("b"), "");
  EXPECT_EQ(leases(), 0U);
}

TEST_F(statement_worker_test, many_that_look_for_a_deadlock_share_their_reads) {
  auto settings = calm();
  settings.poll_interval = 1s;
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  std::stop_source stop;
  std::vector<std::future<std::optional<errc>>> waits;
  for (int i = 0; i < 8; ++i) {
    waits.push_back(in_background([&] {
      return code_of(
          [&] { std::ignore = mutex(db, "a").acquire({.detect_deadlock = true, .stop = stop.get_token()}); });
    }));
  }
  ASSERT_TRUE(eventually([&] { return queued("a") == 8; }));
  const auto before = faults.count("waited_for");
  pass(5s);
  EXPECT_GT(faults.count("waited_for"), before);
  EXPECT_LE(faults.count("waited_for"), before + 12) << "8 waiters in 5 seconds";
  EXPECT_EQ(faults.count("list"), 0);
  stop.request_stop();
  for (auto& one : waits) EXPECT_EQ(one.get(), errc::cancelled);
}

TEST_F(statement_worker_test, a_look_for_a_deadlock_holds_up_no_release) {
  client db = new_client();
  client other = new_client();
  const hold theirs = mutex(other, "a").acquire();
  hold mine = mutex(db, "b").acquire();
  std::stop_source stop;
  auto asked = in_background([&] {
    return code_of(
        [&] { std::ignore = mutex(db, "a").acquire({.detect_deadlock = true, .stop = stop.get_token()}); });
  });
  faults.hang("waited_for");
  ASSERT_TRUE(soon([&] { return server->blocked() == 1; }));
  auto released = in_background([&] { return mine.release(); });
  EXPECT_TRUE(eventually([&] { return released.wait_for(0s) == std::future_status::ready; }))
      << "while no time passes";
  server->unblock();
  EXPECT_EQ(released.get(), release_result::released);
  stop.request_stop();
  EXPECT_EQ(asked.get(), errc::cancelled);
}

TEST_F(statement_worker_test, a_look_for_a_deadlock_that_is_refused_leaves_no_place_in_the_queue) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  faults.deny("waited_for", 1);
  auto asked = in_background(
      [&] { return code_of([&] { std::ignore = mutex(db, "a").acquire({.detect_deadlock = true}); }); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(asked.get(), errc::privilege);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
}

TEST_F(statement_worker_test, a_release_waits_for_one_of_many_reads) {
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  mutex(db, "b").acquire().release();
  faults.hang("show");
  std::vector<std::future<bool>> reads;
  for (int i = 0; i < 20; ++i) reads.push_back(in_background([&] { return mutex(db, "b").is_locked(); }));
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  std::atomic<int> reads_before_release{0};
  std::atomic<bool> releases{false};
  auto released = in_background([&] {
    releases = true;
    return held.release();
  });
  server->on_call([&](store::memory_call& call) {
    if (call.before("show") && !holder_of("a").empty()) ++reads_before_release;
  });
  ASSERT_TRUE(eventually([&] { return releases.load(); }));
  virtual_time::let_others_sleep();
  server->unblock();
  EXPECT_EQ(released.get(), release_result::released);
  for (auto& one : reads) EXPECT_FALSE(one.get());
  EXPECT_LE(reads_before_release, 2);
  server->on_call({});
}

TEST_F(statement_worker_test, many_that_give_up_share_the_edits_that_withdraw_them) {
  client db = new_client();
  client other = new_client();
  hold held = mutex(other, "a").acquire();
  constexpr int many = 200;
  std::stop_source stop;
  std::atomic<int> over{0};
  queue_up(db, many, stop, over);
  const auto edits = faults.count("edit");
  stop.request_stop();
  ASSERT_TRUE(soon([&] { return over == many && queued("a") == 0; }));
  EXPECT_LT(faults.count("edit"), edits + 40);
  held.release();
  EXPECT_TRUE(mutex(other, "a").try_acquire());
}

// If the hold were unknown to the client, the lock would be granted to one withdrawn request after the other.
TEST_F(statement_worker_test, a_grant_to_one_that_has_given_up_passes_by_the_others) {
  client db = new_client();
  client other = new_client();
  hold held = mutex(db, "a").acquire();
  constexpr int many = 100;
  std::stop_source stop;
  std::atomic<int> over{0};
  queue_up(db, many, stop, over);
  auto last = waiting(other, "a");
  server->lock_row("a");
  stop.request_stop();
  ASSERT_TRUE(soon([&] { return over == many; }));
  auto released = in_background([&] { return held.release(); });
  // Until here the row was probed, the more often the longer that took.
  const auto edits = faults.count("edit");
  server->unlock_row("a");
  ASSERT_TRUE(soon([&] { return last.is_over(); }));
  EXPECT_TRUE(last.take());
  EXPECT_LT(faults.count("edit"), edits + 60);
  released.wait();
}

TEST_F(statement_worker_test, what_was_given_up_asks_for_a_locked_row_no_longer) {
  client db = new_client();
  mutex(db, "a").acquire().release();
  server->lock_row("a");
  for (int i = 0; i < 10; ++i) {
    auto tried = in_background([&] { return mutex(db, "a").try_acquire_for(200ms).valid(); });
    ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
    EXPECT_FALSE(tried.get());
  }
  pass(200ms);
  const auto asked = [&] { return faults.count("acquire") + faults.count("enqueue") + faults.count("edit"); };
  const auto before = asked();
  pass(2s);
  EXPECT_EQ(asked(), before);
  const auto begun = time.now();
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_LT(time.now() - begun, 500ms);
  server->unlock_row("a");
}

TEST_F(statement_worker_test, one_probe_asks_for_all_that_is_to_be_released_of_a_locked_row) {
  client db = new_client();
  counting_semaphore pool{db, "pool", 50};
  std::vector<hold> held;
  for (int i = 0; i < 30; ++i) held.push_back(pool.acquire());
  server->lock_row("pool");
  for (auto& one : held)
    release_async([](rowlock::task next) { next(); }, std::move(one), [](release_result) {});
  pass(1s);
  const auto edits = faults.count("edit");
  pass(1s);
  EXPECT_LT(faults.count("edit"), edits + 50) << "20 to 40 a second, as for one release";
  server->unlock_row("pool");
  EXPECT_TRUE(soon([&] { return server->snapshot().locks.at("pool").row.in_use == 0; }));
}

}  // namespace
}  // namespace rowlock::test
