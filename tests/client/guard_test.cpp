// Guarded transactions on the application's own connection, through the adapters.
#include "client/client_test.hpp"
#include "client/raw_sql.hpp"

#include <rowlock/guard/statement.hpp>

#include "primitives/access.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

class guard_test : public client_test {
 protected:
  guard_test() {
    app->run("CREATE TABLE " + account + " (balance INTEGER NOT NULL)");
    app->run("INSERT INTO " + account + " VALUES (100)");
  }
  ~guard_test() override { open_raw_sql(fixture())->run("DROP TABLE " + account); }

  bool is_sqlite() const { return GetParam() == "sqlite"; }
  // Every way to begin a transaction that the database knows.
  std::vector<std::string> beginnings() const {
    if (is_sqlite()) return {"BEGIN DEFERRED", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"};
    if (GetParam() == "postgres") {
      return {"BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN ISOLATION LEVEL REPEATABLE READ",
              "BEGIN ISOLATION LEVEL SERIALIZABLE"};
    }
    std::vector<std::string> all;
    for (const auto* level : {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
      all.push_back(std::string{"SET TRANSACTION ISOLATION LEVEL "} + level + "; START TRANSACTION");
    }
    all.emplace_back("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    return all;
  }
  // Whether a transaction that begins in this way locks what it reads, so that nobody else can write that before its
  // end.
  bool reads_with_locks(const std::string& begin) const {
    if (is_sqlite()) return begin != "BEGIN DEFERRED";
    return has_mysql_dialect(GetParam()) && begin.find("SERIALIZABLE") != std::string::npos;
  }
  // The statement with literals, for a connection that takes text alone.
  static std::string with_parameters(const guard_statement& statement) {
    auto text = statement.sql;
    const auto put = [&](std::size_t at, std::size_t size, std::size_t i) {
      text.replace(at, size, "'" + statement.parameters[i] + "'");
    };
    for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
      const auto number = std::to_string(i + 1);
      for (const auto& place : {"$" + number, "?" + number}) {
        for (auto at = text.find(place); at != std::string::npos; at = text.find(place)) put(at, 2, i);
      }
      if (const auto at = text.find('?'); at != std::string::npos && text[at + 1] != '2') put(at, 1, i);
    }
    return text;
  }
  int balance() { return std::stoi(open_raw_sql(fixture())->value("SELECT balance FROM " + account)); }
  void pay(int amount) {
    app->run("UPDATE " + account + " SET balance = balance - " + std::to_string(amount));
  }

  const std::string account = "account_" + model::id128::random().to_string();
  std::unique_ptr<raw_sql> app = open_raw_sql(fixture());
  client db = new_client();
};

TEST_P(guard_test, is_the_same_for_whoever_knows_the_id_of_the_hold) {
  const auto expect_same = [&](const hold& held, bool is_shared) {
    const auto own = held.guard_statement();
    const auto made = guard_statement_for(db, held.name(), held.id(), is_shared);
    EXPECT_EQ(made.sql, own.sql);
    EXPECT_EQ(made.parameters, own.parameters);
    EXPECT_EQ(made.write, own.write);
  };
  expect_same(mutex(db, "a").acquire(), false);
  expect_same(shared_mutex(db, "b").acquire_shared(), true);
  EXPECT_EQ(code_of([&] { std::ignore = guard_statement_for(db, "a", {}, false); }), errc::invalid_argument);
}

TEST_P(guard_test, commits_while_the_lock_is_held) {
  const hold held = mutex(db, "a").acquire();
  for (const auto& begin : beginnings()) {
    SCOPED_TRACE(begin);
    const int before = balance();
    app->run(begin);
    EXPECT_NO_THROW(app->guard(held));
    pay(10);
    app->run("COMMIT");
    EXPECT_EQ(balance(), before - 10);
  }
  EXPECT_TRUE(held);
}

TEST_P(guard_test, refuses_after_a_forced_release_that_the_holder_has_not_noticed) {
  const client slow = new_client(slow_to_renew());
  for (const auto& begin : beginnings()) {
    SCOPED_TRACE(begin);
    const hold lost = mutex(slow, "a").acquire();
    // The test sends the statement itself, because guard() would refuse without asking the database if the hold knew of
    // its loss.
    const auto statement = with_parameters(lost.guard_statement());
    ASSERT_TRUE(admin{db}.release("a"));
    app->run(begin);
    EXPECT_EQ(app->value(statement), "");
    EXPECT_EQ(code_of([&] { app->guard(lost); }), errc::hold_lost);
    app->run("ROLLBACK");
  }
  EXPECT_EQ(balance(), 100);
}

// The client may notice the loss first; then the guard refuses without asking the database, so the test tries again.
TEST_P(guard_test, refuses_after_another_took_over) {
  for (const auto& begin : beginnings()) {
    SCOPED_TRACE(begin);
    bool believed = false;
    for (int tries = 0; tries < 50 && !believed; ++tries) {
      const client vanished = new_client(slow_to_renew());
      const hold lost = mutex(vanished, "a").acquire();
      side().release(std::vector<store::release_item>{{"a", lease_of("a"), model::hold_id{lost.id()}}},
                     store::durability::durable);
      const hold next = mutex(db, "a").acquire();
      app->run(begin);
      believed = lost.valid();
      EXPECT_EQ(code_of([&] { app->guard(lost); }), errc::hold_lost);
      app->run("ROLLBACK");
    }
    EXPECT_TRUE(believed) << "it believes that it holds";
  }
}

// PostgreSQL's guard of an exclusive hold leaves the row's other columns alone.
TEST_P(guard_test, keeps_the_data_of_its_hold_as_it_is_until_the_transaction_ends) {
  auto settings = slow_to_renew();
  settings.statement_timeout = 3s;
  const client hasty = new_client(settings);
  const hold exclusive = mutex(hasty, "a").acquire();
  const hold reader = shared_mutex(hasty, "c").acquire_shared();
  const auto data = [&](const hold& held) { return admin{db}.show(held.name())->holders.at(0).data; };
  for (const auto* held : {&exclusive, &reader}) {
    held->set_data("before");
    app->run("BEGIN");
    app->guard(*held);
    if (held == &exclusive && GetParam() == "postgres") {
      held->set_data("during");
      EXPECT_EQ(data(*held), "during");
    } else {
      EXPECT_EQ(code_of([&] { held->set_data("during"); }), errc::contention) << held->name();
      EXPECT_EQ(data(*held), "before");
    }
    app->run("COMMIT");
    held->set_data("after");
    EXPECT_EQ(data(*held), "after");
  }
}

// After an upgrade or a downgrade in doubt, the client does not know whether the change was executed.
TEST_P(guard_test, proves_a_hold_whose_mode_is_in_doubt_as_the_database_has_it) {
  shared_mutex catalog{new_client(), "c"};
  for (const bool upgraded : {true, false}) {
    SCOPED_TRACE(upgraded);
    for (const auto& begin : beginnings()) {
      SCOPED_TRACE(begin);
      hold held = upgraded ? catalog.acquire() : catalog.acquire_shared();
      primitives::access::state(held)->become_in_doubt(model::lock_mode::shared, 1);
      app->run(begin);
      EXPECT_NO_THROW(app->guard(held));
      if (!is_sqlite()) {
        EXPECT_EQ(held.release(), release_result::pending) << "the guard keeps it";
      }
      pay(1);
      app->run("COMMIT");
      // The delayed release writes the row, too, which a transaction with an older snapshot would not tolerate.
      ASSERT_TRUE(is_sqlite() || eventually([&] { return !is_held("c"); }));
    }
  }
}

TEST_P(guard_test, refuses_a_hold_in_doubt_that_is_gone) {
  const client slow = new_client(slow_to_renew());
  shared_mutex catalog{slow, "c"};
  const hold held = catalog.acquire();
  primitives::access::state(held)->become_in_doubt(model::lock_mode::shared, 1);
  ASSERT_TRUE(admin{db}.release("c"));
  app->run(beginnings().front());
  EXPECT_EQ(code_of([&] { app->guard(held); }), errc::hold_lost);
  app->run("ROLLBACK");
}

TEST_P(guard_test, outside_of_a_transaction_is_refused) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { app->guard(held); }), errc::invalid_argument);
}

// Two withdrawals each read the balance and write it back. The second one began, and so took its snapshot, before it
// had the lock: it must not write what it read (90 where 50 is right).
TEST_P(guard_test, never_lets_an_old_snapshot_write) {
  for (const auto& begin : beginnings()) {
    SCOPED_TRACE(begin);
    app->run("UPDATE " + account + " SET balance = 100");
    if (reads_with_locks(begin)) continue;  // the first withdrawal could not have written
    const auto second = open_raw_sql(fixture());
    second->run(begin);
    const int stale = std::stoi(second->value("SELECT balance FROM " + account));
    {
      const hold held = mutex(db, "a").acquire();
      app->run("BEGIN");
      app->guard(held);
      pay(50);
      app->run("COMMIT");
    }
    const hold held = mutex(db, "a").acquire();
    bool refused = false;
    try {
      second->guard(held);
      const int read = std::stoi(second->value("SELECT balance FROM " + account));
      second->run("UPDATE " + account + " SET balance = " + std::to_string(read - 10));
      second->run("COMMIT");
    } catch (const std::exception&) {
      refused = true;
      second->run("ROLLBACK");
    }
    EXPECT_EQ(stale, 100);
    EXPECT_EQ(balance(), refused ? 50 : 40);
    const bool has_snapshot = begin.find("COMMITTED") == std::string::npos;
    EXPECT_EQ(refused, has_snapshot);
  }
}

TEST_P(guard_test, a_snapshot_of_after_the_acquire_is_good_whatever_came_before_it) {
  for (int round = 0; round < 2; ++round) {
    for (const auto& begin : beginnings()) {
      SCOPED_TRACE(begin);
      const hold held = mutex(db, "a").acquire();
      std::string refusal = "never tried";
      // On SQLite the guard writes, which fails if a renewal has written since the read; then one begins again.
      for (int tries = 0; tries < (is_sqlite() ? 5 : 1) && !refusal.empty(); ++tries) {
        app->run(begin);
        app->value("SELECT balance FROM " + account);
        try {
          app->guard(held);
          refusal.clear();
        } catch (const error& failure) {
          refusal = failure.what();
        }
        app->run(refusal.empty() ? "COMMIT" : "ROLLBACK");
      }
      EXPECT_EQ(refusal, "");
    }
  }
}

TEST_P(guard_test, keeps_everybody_out_until_it_ends) {
  auto settings = patient();
  // A busy SQLite file answers nothing until then; a server says `pending` after a quarter of a second.
  settings.close_timeout = is_sqlite() ? 300ms : 5s;
  const client brief = new_client(settings);
  hold held = mutex(brief, "a").acquire();
  app->run("BEGIN");
  app->guard(held);
  pay(30);
  const auto result = held.release();
  if (!is_sqlite()) {
    EXPECT_EQ(result, release_result::pending);
  } else {
    EXPECT_NE(result, release_result::lost) << "the file has one writer, who is not us";
    EXPECT_NE(result, release_result::released);
  }
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  if (!is_sqlite()) {
    EXPECT_FALSE(mutex(db, "a").try_acquire());
  }
  app->run("COMMIT");
  const hold next = mutex(db, "a").acquire();
  EXPECT_GT(next.token(), held.token());
  EXPECT_EQ(balance(), 70);
}

TEST_P(guard_test, of_a_connection_that_breaks_ends_with_it) {
  hold held = mutex(db, "a").acquire();
  app->run("BEGIN");
  app->guard(held);
  app.reset();
  held.release();
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(guard_test, of_a_reader_holds_up_one_for_a_time_no_longer_than_it_lasts) {
  shared_mutex lock{db, "a"};
  const hold reader = lock.acquire_shared();
  app->run(is_sqlite() ? "BEGIN DEFERRED" : "BEGIN");
  app->guard(reader);
  auto other = in_background([&] { return lock.acquire_shared({.ttl = 30s}); });
  pay(10);
  app->run("COMMIT");
  ASSERT_EQ(other.wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(other.get());
  EXPECT_TRUE(reader);
}

TEST_P(guard_test, of_a_reader_does_not_hold_up_another_readers_upgrade) {
  if (is_sqlite()) return;  // any guard keeps all others from writing
  shared_mutex lock{db, "a"};
  hold mine = lock.acquire_shared();
  const hold other = lock.acquire_shared();
  app->run("BEGIN");
  app->guard(other);
  EXPECT_FALSE(lock.try_upgrade(mine)) << "there is another reader, whose guard is its own affair";
  app->run("COMMIT");
  EXPECT_TRUE(mine);
}

// A partial release changes only the weight.
TEST_P(guard_test, of_permits_in_doubt_asks_nothing) {
  counting_semaphore slots{new_client(slow_to_renew()), "s", 4};
  const hold held = slots.acquire(3);
  primitives::access::state(held)->become_in_doubt(model::lock_mode::shared, 2);
  auto& count = primitives::access::state(held)->engine().environment().count;
  const auto before = count.statements.load();
  constexpr std::uint64_t many = 20;
  for (std::uint64_t i = 0; i < many; ++i) EXPECT_NE(held.guard_statement().sql, "");
  EXPECT_LT(count.statements.load(), before + many) << "there may be a statement of the lease";
  app->run("BEGIN");
  EXPECT_NO_THROW(app->guard(held));
  app->run("COMMIT");
}

INSTANTIATE_TEST_SUITE_P(stores, guard_test,
                         testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                         store_test_name);

class memory_guard_test : public virtual_client_test {};

TEST_F(memory_guard_test, lets_waiters_queue_meanwhile) {
  client db = new_client();
  hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(server->guard("a", model::hold_id{held.id()}));
  auto waiter = waiting(db, "a");
  EXPECT_EQ(held.release(), release_result::pending);
  EXPECT_EQ(queued("a"), 1U);
  server->unguard("a");
  ASSERT_TRUE(soon([&] { return waiter.is_over(); }));
  EXPECT_TRUE(waiter.take());
}

}  // namespace
}  // namespace rowlock::test
