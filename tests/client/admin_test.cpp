#include "client/client_test.hpp"

#include "support/background.hpp"

#include <unistd.h>

namespace rowlock::test {
namespace {

class admin_test : public client_test {
 protected:
  client db = new_client();
  admin operations{db};
};

TEST_P(admin_test, shows_a_held_lock_and_its_holder) {
  const hold held = mutex(db, "a").acquire();
  const auto waiter = waiting(db, "a");
  const auto info = operations.show("a");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "a");
  EXPECT_EQ(info->kind, lock_kind::mutex);
  EXPECT_EQ(info->capacity, 1);
  EXPECT_EQ(info->in_use, 1);
  EXPECT_EQ(info->token, held.token());
  EXPECT_EQ(info->waiters, 1);
  ASSERT_EQ(info->holders.size(), 1U);
  const auto& holder = info->holders.front();
  EXPECT_EQ(holder.hold_id, held.id());
  EXPECT_EQ(holder.token, held.token());
  EXPECT_EQ(holder.pid, ::getpid());
  EXPECT_EQ(holder.application, "client tests");
  EXPECT_FALSE(holder.host.empty());
  EXPECT_EQ(holder.lease_id, lease_of("a"));
  EXPECT_GT(holder.expires_in, 0ms);
  EXPECT_LE(holder.expires_in, 30s);
}

TEST_P(admin_test, shows_nothing_of_an_unknown_name) {
  EXPECT_FALSE(operations.show("a"));
  EXPECT_TRUE(operations.list().empty());
  EXPECT_TRUE(operations.queue("a").empty());
}

TEST_P(admin_test, lists_all_by_name) {
  for (const char* name : {"b", "a", "B", "a/x"}) mutex(db, name).acquire().release();
  std::vector<std::string> names;
  for (const auto& info : operations.list()) names.push_back(info.name);
  EXPECT_THAT(names, testing::ElementsAre("B", "a", "a/x", "b"));
}

TEST_P(admin_test, shows_the_queue_by_ticket) {
  const hold held = mutex(db, "a").acquire();
  const client other = new_client();
  const auto first = waiting(other, "a");
  const auto second = waiting(db, "a");
  const auto queue = operations.queue("a");
  ASSERT_EQ(queue.size(), 2U);
  EXPECT_LT(queue[0].ticket, queue[1].ticket);
  EXPECT_EQ(queue[1].lease_id, lease_of("a"));
  EXPECT_NE(queue[0].lease_id, queue[1].lease_id);
  EXPECT_TRUE(queue[0].alive);
  EXPECT_EQ(queue[0].application, "client tests");
}

TEST_P(admin_test, shows_a_dead_waiter_as_dead) {
  const hold held = mutex(db, "a").acquire();
  const client other = new_client();
  const auto waiter = waiting(other, "a");
  kill(operations.queue("a").empty() ? model::lease_id{} : side().queue("a").front().waiter.lease);
  const auto queue = operations.queue("a");
  ASSERT_GE(queue.size(), 1U);
  EXPECT_FALSE(queue[0].alive);
  EXPECT_EQ(operations.show("a")->waiters, static_cast<std::int64_t>(queue.size()) - 1);
}

TEST_P(admin_test, releases_by_force_and_raises_the_token) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_TRUE(operations.release("a"));
  EXPECT_FALSE(is_held("a"));
  EXPECT_GT(token_of("a"), held.token());
}

TEST_P(admin_test, releasing_what_nobody_holds_says_so) {
  EXPECT_FALSE(operations.release("a"));
  mutex(db, "a").acquire().release();
  EXPECT_FALSE(operations.release("a"));
}

TEST_P(admin_test, a_forced_release_hands_over_to_the_first_waiter) {
  const hold held = mutex(db, "a").acquire();
  const client other = new_client();
  auto first = waiting(other, "a");
  auto second = waiting(db, "a");
  ASSERT_TRUE(operations.release("a"));
  const hold got = first.take();
  EXPECT_GT(got.token(), held.token());
  EXPECT_EQ(queued("a"), 1U);
}

TEST_P(admin_test, sweeps_what_the_dead_left) {
  side().record_database_state();
  const auto lease = model::lease_id::random();
  side().create_lease({lease, lease, "host", 1, "gone", 30s});
  side().create(std::vector<model::lock_definition>{{"a"}, {"b"}, {"c"}});
  for (const char* name : {"a", "b"}) {
    side().acquire(std::vector<store::acquire_item>{
        {name, model::lock_kind::mutex, 1, lease, model::hold_id::random()}});
  }
  EXPECT_EQ(operations.sweep().leases, 0);
  fixture().expire(lease);
  const auto swept = operations.sweep();
  EXPECT_EQ(swept.leases, 1);
  EXPECT_EQ(swept.locks, 2);
  EXPECT_EQ(operations.show("a")->in_use, 0);
  const auto nothing = operations.sweep();
  EXPECT_EQ(nothing.leases + nothing.locks, 0);
}

// An edit reads only the first waiters of a queue.
TEST_P(admin_test, sweeps_all_dead_waiters_behind_a_living_holder) {
  side().record_database_state();
  const hold held = mutex(db, "a").acquire();
  const auto lease = model::lease_id::random();
  side().create_lease({lease, lease, "host", 1, "gone", 30s});
  const auto queue_many = [lease](const store::lock_view& view) {
    store::lock_change change;
    change.row = view.row;
    change.row->has_queue = true;
    for (std::size_t i = 0; i < 2 * store::queue_window + 10; ++i) {
      change.enqueue.push_back({change.row->next_ticket++, model::hold_id::random(), lease, 1});
    }
    return change;
  };
  // The client's own statements may be in the way for a moment.
  ASSERT_TRUE(eventually([&] {
    const std::vector<store::edit_request> request{{"a", {}, queue_many}};
    return side().edit(request).front() == store::edit_result::committed;
  }));
  fixture().expire(lease);
  const auto swept = operations.sweep();
  EXPECT_EQ(swept.leases, 1);
  EXPECT_EQ(swept.locks, 1);
  EXPECT_EQ(side().queue("a").size(), 0U);
  EXPECT_EQ(operations.sweep().locks, 0);
}

TEST_P(admin_test, collects_what_was_unused_for_long_and_nothing_else) {
  for (const char* name : {"old", "new", "held"}) mutex(db, name).acquire().release();
  const hold held = mutex(db, "held").acquire();
  fixture().age("old", 2h);
  fixture().age("held", 2h);
  EXPECT_EQ(operations.collect(1h), 1);
  EXPECT_FALSE(operations.show("old"));
  EXPECT_TRUE(operations.show("new"));
  EXPECT_TRUE(operations.show("held"));
}

TEST_P(admin_test, collects_more_than_one_batch) {
  std::vector<model::lock_definition> locks;
  for (int i = 1000; i < 2100; ++i) locks.push_back({"n" + std::to_string(i)});
  side().create(locks);
  EXPECT_EQ(operations.collect(0ms), 1100);
}

// Where a page is found before its rows are locked, it deletes fewer locks than it has found.
TEST_P(admin_test, collects_what_comes_after_a_page_with_a_lock_in_use) {
  std::vector<model::lock_definition> locks;
  for (int i = 1000; i < 2100; ++i) locks.push_back({"n" + std::to_string(i)});
  side().create(locks);
  // Without row locks a rival has the whole database, so there is none.
  const bool has_rival = fixture().can(test::capability::row_locks);
  decltype(fixture().lock_row("")) rival;
  if (has_rival) rival = fixture().lock_row("n1500");
  EXPECT_EQ(operations.collect(0ms), has_rival ? 1099 : 1100);
  EXPECT_EQ(operations.show("n1500").has_value(), has_rival);
}

TEST_P(admin_test, raises_the_epoch_and_all_tokens) {
  const hold before = mutex(db, "a").acquire();
  const auto old = operations.epoch();
  const fencing_token above{std::int64_t{1} << 40};
  const auto epoch = operations.raise_epoch(above);
  EXPECT_GT(epoch, old);
  EXPECT_EQ(operations.epoch(), epoch);
  EXPECT_GT(mutex(db, "b").acquire().token(), above);
  EXPECT_GT(operations.raise_epoch(), epoch) << "each time";
}

// Each kill must respect the stored skew, whatever the client's options say: the command has no such option.
TEST_P(admin_test, stores_the_skew_that_every_client_allows_for) {
  EXPECT_EQ(operations.skew(), 0ms);
  operations.set_skew(1h);
  EXPECT_EQ(operations.skew(), 1h);
  side().record_database_state();
  const auto lease = model::lease_id::random();
  side().create_lease({lease, lease, "host", 1, "test", 30s});
  side().create(std::vector<model::lock_definition>{{"a"}});
  const store::acquire_item request[] = {{.name = "a", .lease = lease, .hold = model::hold_id::random()}};
  ASSERT_EQ(side().acquire(request).size(), 1U);
  fixture().expire(lease, 1min);
  EXPECT_EQ(admin{new_client()}.sweep().leases, 0);
  const client later = new_client();
  EXPECT_FALSE(mutex(later, "a").try_acquire());
  EXPECT_FALSE(try_acquire_all({mutex{later, "a"}, mutex{later, "b"}}));
  operations.set_skew(0ms);
  EXPECT_EQ(admin{new_client()}.sweep().leases, 1);
  EXPECT_TRUE(mutex(later, "a").try_acquire());
}

TEST_P(admin_test, sweeps_page_by_page) {
  std::vector<model::lock_definition> locks;
  std::vector<store::acquire_item> requests;
  side().record_database_state();
  const auto lease = model::lease_id::random();
  side().create_lease({lease, lease, "host", 1, "test", 30s});
  for (int i = 1000; i < 3100; ++i) {
    locks.push_back({"n" + std::to_string(i)});
    if (i % 700 != 0) continue;
    requests.push_back({.name = locks.back().name, .lease = lease, .hold = model::hold_id::random()});
  }
  side().create(locks);
  ASSERT_EQ(side().acquire(requests).size(), 3U);
  fixture().expire(lease, 1min);
  const auto swept = operations.sweep();
  EXPECT_EQ(swept.leases, 1);
  EXPECT_EQ(swept.locks, 3);
  for (const auto& one : requests) EXPECT_FALSE(is_held(one.name));
}

TEST_P(admin_test, refuses_what_cannot_be_meant) {
  EXPECT_EQ(code_of([&] { operations.raise_epoch(fencing_token{-1}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.raise_epoch(fencing_token{std::int64_t{1} << 52}); }),
            errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.set_skew(-1ms); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.set_skew(25h); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.collect(-1ms); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.collect(std::chrono::hours{24 * 3654}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { std::ignore = operations.show(""); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { operations.release("a\n"); }), errc::invalid_argument);
}

TEST_P(admin_test, works_without_a_lease_of_its_own) {
  std::ignore = operations.list();
  operations.sweep();
  operations.release("a");
  EXPECT_TRUE(side().find_stale(10, -std::chrono::hours{24 * 365}).leases.empty());
}

TEST_P(admin_test, of_a_closed_client_throws) {
  db.close();
  EXPECT_EQ(code_of([&] { std::ignore = operations.list(); }), errc::closed);
  EXPECT_EQ(code_of([&] { operations.release("a"); }), errc::closed);
}

ROWLOCK_FOR_EACH_STORE(admin_test);

class admin_clock_test : public virtual_client_test {};

TEST_F(admin_clock_test, says_contention_while_a_guard_keeps_the_row) {
  client db = new_client();
  const hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(server->guard("a", model::hold_id{held.id()}));
  try {
    admin{db}.release("a");
    ADD_FAILURE() << "the guard kept nobody waiting";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::contention);
    EXPECT_TRUE(thrown.outcome_unknown());
  }
  EXPECT_TRUE(held);
  server->unguard("a");
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); })) << "and goes on trying";
}

TEST_F(admin_clock_test, kills_what_comes_after_a_page_with_a_lease_in_use) {
  client db = new_client();
  const auto side = server->open()->connect();
  side->record_database_state();
  std::optional<model::lease_id> in_use;
  for (int i = 0; i < 1100; ++i) {
    const auto lease = model::lease_id::random();
    side->create_lease({lease, lease, "host", 1, "gone", 30s});
    if (!in_use || lease < *in_use) in_use = lease;  // the first that a page shows
  }
  advance(1min);
  server->lock_row(*in_use);
  EXPECT_EQ(admin{db}.sweep().leases, 1099);
  server->unlock_row(*in_use);
  EXPECT_EQ(admin{db}.sweep().leases, 1);
}

// A row that somebody keeps locked must be found out within the time that a statement may take.
TEST_F(admin_clock_test, says_contention_with_a_short_statement_timeout_too) {
  auto settings = calm();
  settings.statement_timeout = 200ms;
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  server->lock_row("a");
  auto forced = in_background([&] { return code_of([&] { admin{db}.release("a"); }); });
  ASSERT_TRUE(soon([&] { return forced.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(forced.get(), errc::contention);
  server->unlock_row("a");
  EXPECT_TRUE(soon([&] { return holder_of("a").empty(); })) << "and goes on trying";
}

TEST_F(admin_clock_test, a_sweep_that_gets_no_answer_about_a_lock_says_so) {
  client db = new_client();
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  mutex(db, "b").acquire().release();
  server->expire(*server->snapshot().locks.at("a").row.lease);
  faults.refuse("edit", 1'000'000);
  auto swept = in_background([&] { return code_of([&] { admin{db}.sweep(); }); });
  ASSERT_TRUE(soon([&] { return swept.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(swept.get(), errc::unreachable);
  faults.forget();
}

TEST_F(admin_clock_test, a_stored_skew_reaches_those_who_are_connected_with_a_renewal) {
  client db = new_client();
  client other = new_client();
  const hold mine = mutex(db, "b").acquire();
  const hold theirs = mutex(other, "a").acquire();
  const hold permit = counting_semaphore(other, "s", 1).acquire();
  admin{other}.set_skew(10min);
  pass_renewals(db);
  const auto lease = server->snapshot().locks.at("a").row.lease.value();
  server->expire(lease, 1min);
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  std::stop_source stop;
  auto waits = in_background([&] {
    return code_of(
        [&] { std::ignore = counting_semaphore(db, "s", 1).acquire(1, {.stop = stop.get_token()}); });
  });
  EXPECT_TRUE(eventually([&] { return queued("s") == 1; }));
  EXPECT_TRUE(server->snapshot().leases.contains(lease));
  stop.request_stop();
  EXPECT_EQ(waits.get(), errc::cancelled);
}

TEST_F(admin_clock_test, says_whether_the_outcome_is_unknown) {
  client db = new_client();
  faults.lose_answer("raise_epoch");
  try {
    admin{db}.raise_epoch();
    FAIL() << "nothing was thrown";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::unreachable);
    EXPECT_TRUE(thrown.outcome_unknown());
    EXPECT_TRUE(thrown.transient());
  }
}

}  // namespace
}  // namespace rowlock::test
