// Lost answers, broken connections, and statements that a server executes late (I6, I7, I8).
#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class doubt_test : public virtual_client_test {
 protected:
  doubt_test() { mutex(db, "a").acquire().release(); }

  fencing_token token() const { return fencing_token{server->snapshot().locks.at("a").row.token}; }
  hold take(attempt& asked) {
    EXPECT_TRUE(soon([&] { return asked.is_over(); }));
    return asked.take();
  }
  void expect_free_soon() {
    EXPECT_TRUE(soon([&] { return holder_of("a").empty() && queued("a") == 0; }));
  }

  client db = new_client();
};

TEST_F(doubt_test, an_acquire_whose_answer_was_lost_is_one_grant) {
  const auto before = token().value();
  faults.lose_answer("acquire");
  attempt asked{db, "a"};
  const hold held = take(asked);
  EXPECT_EQ(held.token().value(), before + 1);
  EXPECT_EQ(token(), held.token());
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_F(doubt_test, an_acquire_that_was_lost_on_its_way_is_sent_again) {
  const auto before = token().value();
  faults.lose_request("acquire");
  attempt asked{db, "a"};
  EXPECT_EQ(take(asked).token().value(), before + 1);
}

TEST_F(doubt_test, a_slow_acquire_whose_answer_was_lost_is_one_grant) {
  faults.lose_answer("edit");
  attempt asked{db, "new"};
  const hold held = take(asked);
  EXPECT_EQ(server->snapshot().locks.at("new").row.token, held.token().value());
  EXPECT_EQ(holder_of("new"), held.id().to_string());
  EXPECT_TRUE(soon([&] { return db.stats().acquired == 2; })) << "counted behind the answer";
}

TEST_F(doubt_test, a_place_in_the_queue_whose_answer_was_lost_is_one_place) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto edits = faults.count("edit");
  faults.lose_answer("enqueue");
  attempt asked{db, "a"};
  ASSERT_TRUE(soon([&] { return faults.count("edit") == edits + 1; })) << "an edit finds its place";
  EXPECT_EQ(queued("a"), 1U);
  held.reset();
  EXPECT_EQ(take(asked).id().to_string(), holder_of("a"));
  expect_free_soon();
}

TEST_F(doubt_test, a_place_that_an_edit_took_and_whose_answer_was_lost_is_one_place) {
  auto held = std::make_optional(mutex(db, "a").acquire());
  const auto edits = faults.count("edit");
  faults.lose_request("enqueue");
  faults.lose_answer("edit");
  attempt asked{db, "a"};
  ASSERT_TRUE(soon([&] { return faults.count("edit") == edits + 2; }));
  EXPECT_EQ(queued("a"), 1U);
  held.reset();
  EXPECT_EQ(take(asked).id().to_string(), holder_of("a"));
  expect_free_soon();
}

TEST_F(doubt_test, a_hand_over_whose_answer_was_lost_reaches_its_waiter) {
  for (const bool sent : {true, false}) {
    SCOPED_TRACE(sent);
    hold held = mutex(db, "a").acquire();
    auto waiter = waiting(db, "a");
    sent ? faults.lose_answer("hand_over") : faults.lose_request("hand_over");
    auto released = in_background([&] { return held.release(); });
    hold got = take(waiter);
    EXPECT_EQ(got.token(), token());
    EXPECT_EQ(released.get(), release_result::released);
    got.release();
  }
}

TEST_F(doubt_test, a_lock_that_comes_before_its_waiter_knows_that_it_waits_is_found_at_once) {
  client other = new_client();
  mutex(other, "b").acquire().release();
  hold held = mutex(db, "a").acquire();
  faults.hang_answer("enqueue");
  attempt asked{other, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1 && queued("a") == 1; }));
  const auto waits = faults.count("wait");
  held.release();
  ASSERT_TRUE(eventually([&] { return faults.count("wait") > waits; })) << "the wake-up was heard";
  server->unblock();
  EXPECT_TRUE(eventually([&] { return asked.is_over(); })) << "no time passes, so no poll finds it";
  EXPECT_EQ(asked.take().id().to_string(), holder_of("a"));
}

TEST_F(doubt_test, a_hand_over_by_an_edit_whose_answer_was_lost_reaches_its_waiter) {
  hold held = mutex(db, "a").acquire();
  auto waiter = waiting(db, "a");
  faults.lose_request("hand_over");
  faults.lose_answer("edit");
  auto released = in_background([&] { return held.release(); });
  const hold got = take(waiter);
  EXPECT_EQ(got.token(), token());
  EXPECT_EQ(released.get(), release_result::released);
}

TEST_F(doubt_test, a_move_to_an_explicit_ttl_whose_answer_was_lost_is_one_grant) {
  hold first = mutex(db, "a").acquire();
  attempt asked{db, "a", 20s};
  ASSERT_TRUE(eventually([&] { return queued("a") == 1 && knows_places(db); }));
  faults.lose_answer("edit");
  first.release();
  const hold held = take(asked);
  EXPECT_EQ(held.token().value(), first.token().value() + 1);
  EXPECT_TRUE(held);
  EXPECT_EQ(leases(), 2U) << "the client's and the hold's";
}

TEST_F(doubt_test, a_release_whose_answer_was_lost_was_a_release) {
  hold held = mutex(db, "a").acquire();
  faults.lose_answer("release");
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released) << "it held until then";
  EXPECT_EQ(held.loss(), loss::none);
  EXPECT_EQ(db.stats().released, 2U);
  expect_free_soon();
}

TEST_F(doubt_test, a_release_that_was_lost_on_its_way_is_sent_again) {
  hold held = mutex(db, "a").acquire();
  faults.lose_request("release");
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released);
  expect_free_soon();
}

TEST_F(doubt_test, a_repeated_release_frees_no_later_holder) {
  hold held = mutex(db, "a").acquire();
  faults.lose_answer("release");
  auto released = in_background([&] { return held.release(); });
  client other = new_client();
  ASSERT_TRUE(eventually([&] { return holder_of("a").empty(); }));
  const hold next = mutex(other, "a").acquire();
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(holder_of("a"), next.id().to_string());
}

TEST_F(doubt_test, a_permit_whose_answer_was_lost_is_one_permit) {
  shared_mutex lock{db, "s"};
  lock.acquire_shared().release();
  const auto row = [&] { return server->snapshot().locks.at("s").row; };
  const auto before = row().token;
  faults.lose_answer("acquire");
  auto asked = in_background([&] { return lock.acquire_shared(); });
  ASSERT_TRUE(soon([&] { return asked.wait_for(0s) == std::future_status::ready; }));
  hold held = asked.get();
  EXPECT_EQ(held.token().value(), before + 1);
  EXPECT_EQ(row().in_use, 1);
  faults.lose_answer("release");
  auto released = in_background([&] { return held.release(); });
  ASSERT_TRUE(soon([&] { return released.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(released.get(), release_result::released);
  EXPECT_EQ(row().in_use, 0);
}

TEST_F(doubt_test, a_renewal_whose_answer_was_lost_is_sent_again) {
  const hold held = mutex(db, "a").acquire();
  faults.lose_answer("renew");
  advance(10s);
  ASSERT_TRUE(soon([&] { return db.stats().renewals > 0; }));
  EXPECT_TRUE(held);
  EXPECT_GE(faults.count("renew"), 2);
}

TEST_F(doubt_test, a_lease_whose_creation_is_in_doubt_leaves_no_second_one_for_long) {
  mutex(db, "a").acquire().release();
  const auto before = leases();
  client other = new_client();
  faults.lose_answer("create_lease");
  attempt asked{other, "b"};
  const hold held = take(asked);
  ASSERT_EQ(leases(), before + 2) << "the one in doubt, and the one that was made then";
  pass_renewals(other, 4);
  admin(db).sweep();
  EXPECT_EQ(leases(), before + 1);
  EXPECT_TRUE(held);
}

TEST_F(doubt_test, a_connection_that_dies_with_its_caller_gone_leaves_nothing_held) {
  faults.hang_answer("acquire");
  auto asked = std::make_optional<attempt>(db, "a");
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_NE(holder_of("a"), "");
  asked->stop();
  EXPECT_EQ(code_of([&] { std::ignore = asked->take(); }), errc::cancelled);
  faults.lose_answer("acquire");
  server->unblock();
  expect_free_soon();
}

TEST_F(doubt_test, a_connection_that_dies_with_its_waiter_gone_leaves_no_place_in_the_queue) {
  const hold held = mutex(db, "a").acquire();
  client other = new_client();
  mutex(other, "b").acquire().release();
  faults.hang_answer("enqueue");
  attempt asked{other, "a"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1 && queued("a") == 1; }));
  asked.stop();
  EXPECT_EQ(code_of([&] { std::ignore = asked.take(); }), errc::cancelled);
  faults.cut(true);
  server->unblock();
  faults.cut(false);
  EXPECT_TRUE(soon([&] { return queued("a") == 0; }));
  EXPECT_EQ(holder_of("a"), held.id().to_string());
}

TEST_F(doubt_test, a_ghost_is_ended_before_its_acquire_is_repeated) {
  server->name_backends();
  client other = new_client();
  mutex(other, "b").acquire().release();
  const auto before = token().value();
  faults.leave_ghost("acquire");
  attempt asked{other, "a"};
  hold held = take(asked);
  EXPECT_GE(faults.count("end_ghost"), 1);
  held.release();
  server->run_ghosts();
  EXPECT_EQ(holder_of("a"), "") << "the ghost was ended";
  EXPECT_EQ(token().value(), before + 1);
}

TEST_F(doubt_test, while_a_ghost_lives_nothing_is_sent_on_its_connections_successor) {
  server->name_backends();
  auto settings = calm();
  settings.connections = 2;
  client other = new_client(settings);
  mutex(other, "b").acquire().release();
  faults.leave_ghost("acquire");
  faults.refuse("end_ghost", 3);
  const auto edits = faults.count("edit");
  attempt asked{other, "a"};
  ASSERT_TRUE(soon([&] { return faults.count("end_ghost") >= 3; }));
  EXPECT_EQ(faults.count("edit"), edits);
  EXPECT_FALSE(asked.is_over());
  EXPECT_TRUE(take(asked));
}

TEST_F(doubt_test, a_ghost_belongs_to_the_client_and_no_worker_goes_around_it) {
  server->name_backends();
  auto settings = calm();
  settings.connections = 5;
  client other = new_client(settings);
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    const auto asked_for = faults.count("end_ghost");
    faults.leave_ghost("acquire");
    faults.refuse("end_ghost", 1000);
    attempt asked{other, "a"};
    ASSERT_TRUE(soon([&] { return faults.count("end_ghost") >= asked_for + 3; }));
    EXPECT_FALSE(asked.is_over());
    // The ghost executes the request this late, and yet the grant is the caller's.
    server->run_ghosts();
    const auto granted = holder_of("a");
    EXPECT_NE(granted, "") << "the lock was free for it";
    faults.forget();
    hold held = take(asked);
    EXPECT_EQ(held.id().to_string(), granted);
    EXPECT_EQ(held.release(), release_result::released);
    expect_free_soon();
  }
}

TEST_F(doubt_test, while_a_ghost_lives_other_requests_go_on) {
  server->name_backends();
  client other = new_client();
  mutex(other, "b").acquire().release();
  faults.leave_ghost("acquire");
  faults.refuse("end_ghost", 1000);
  attempt asked{other, "a"};
  ASSERT_TRUE(soon([&] { return faults.count("end_ghost") >= 3; }));
  EXPECT_EQ(mutex(other, "b").acquire().release(), release_result::released);
  EXPECT_FALSE(asked.is_over());
  faults.forget();
  EXPECT_TRUE(take(asked));
}

TEST_F(doubt_test, a_renewal_waits_for_no_ghost) {
  server->name_backends();
  client other = new_client();
  const hold held = mutex(other, "b").acquire();
  const auto renewals = other.stats().renewals;
  faults.hang("renew");
  faults.refuse("end_ghost", 1000);
  advance(10s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(5'250ms);
  EXPECT_TRUE(soon([&] { return other.stats().renewals > renewals; })) << "after the keeper's pause";
  EXPECT_TRUE(held);
}

TEST_F(doubt_test, a_ghost_whose_caller_has_given_up_is_ended_before_anything_is_withdrawn) {
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    const std::string name = shared ? "s" : "a";
    server->name_backends();
    auto settings = calm();
    settings.connections = 3;  // sends releases on another connection than acquires
    client other = new_client(settings);
    shared_mutex lock{other, "s"};
    lock.acquire_shared().release();
    const auto laid = faults.count("end_ghost");
    faults.leave_ghost("acquire");
    faults.refuse("end_ghost", 3);
    std::stop_source stop;
    auto asked = in_background([&] {
      const acquire_options how{.stop = stop.get_token()};
      return shared ? lock.acquire_shared(how) : mutex(other, "a").acquire(how);
    });
    ASSERT_TRUE(soon([&] { return faults.count("end_ghost") > laid; }));
    stop.request_stop();
    EXPECT_EQ(code_of([&] { std::ignore = asked.get(); }), errc::cancelled);
    ASSERT_TRUE(soon([&] { return faults.count("end_ghost") >= laid + 4; }));
    server->run_ghosts();
    EXPECT_TRUE(soon([&] { return server->snapshot().locks.at(name).row.in_use == 0; }));
    EXPECT_EQ(holder_of(name), "");
  }
}

TEST_F(doubt_test, an_asynchronous_release_that_a_crash_lost_is_sent_again) {
  server->keep_history();
  hold held = mutex(db, "a").acquire();
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(holder_of("a"), "");
  server->crash(true);
  EXPECT_EQ(holder_of("a"), held.id().to_string()) << "the crash lost the release";
  advance(10s);
  expect_free_soon();
  server->crash(true);
  EXPECT_EQ(holder_of("a"), "") << "what was sent again is on disk";
}

TEST_F(doubt_test, a_release_that_is_known_to_be_on_disk_is_not_sent_again) {
  hold held = mutex(db, "a").acquire();
  held.release();
  advance(1ms);
  pass_renewals(db);
  const auto edits = faults.count("edit");
  server->crash();
  pass_renewals(db);
  // The client's connections are gone, so this request takes the slow path, after any release that would be sent again.
  attempt asked{db, "a"};
  take(asked).release();
  expect_free_soon();
  EXPECT_EQ(faults.count("edit"), edits + 1);
}

TEST_F(doubt_test, try_acquire_says_unreachable_when_nothing_can_be_reached) {
  faults.cut(true);
  auto tried = in_background([&] { return code_of([&] { std::ignore = mutex(db, "a").try_acquire(); }); });
  ASSERT_TRUE(soon([&] { return tried.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(tried.get(), errc::unreachable);
}

TEST_F(doubt_test, acquire_waits_through_an_outage) {
  faults.cut(true);
  attempt asked{db, "a"};
  ASSERT_TRUE(soon([&] { return faults.count("connect") >= 5; }));
  EXPECT_FALSE(asked.is_over());
  faults.cut(false);
  EXPECT_TRUE(take(asked));
}

TEST_F(doubt_test, waiters_keep_their_places_through_an_outage) {
  client holder = new_client();
  auto held = std::make_optional(mutex(holder, "a").acquire());
  auto waiter = waiting(db, "a");
  server->crash();
  EXPECT_EQ(queued("a"), 1U);
  held.reset();
  EXPECT_TRUE(take(waiter));
}

}  // namespace
}  // namespace rowlock::test
