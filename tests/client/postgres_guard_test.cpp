// Guards on PostgreSQL, where they differ from others.
#ifdef ROWLOCK_TEST_POSTGRES

#include "client/client_test.hpp"
#include "client/raw_sql.hpp"

#include <rowlock/guard/pqxx.hpp>

namespace rowlock::test {
namespace {

// A guard that ends with its statement, or with a savepoint, protects nothing.
template <class Transaction>
constexpr bool guardable = requires(Transaction& tx, const hold& held) {
  guard(tx, held);
};
static_assert(guardable<pqxx::work> && guardable<pqxx::transaction_base>);
static_assert(!guardable<pqxx::nontransaction>);
static_assert(!guardable<pqxx::subtransaction>);

class postgres_guard_test : public client_test {
 protected:
  client db = new_client();
};

TEST_P(postgres_guard_test, waiters_queue_and_renewals_go_on_meanwhile) {
  const client quick = new_client(quick_to_renew());
  const hold held = mutex(quick, "a").acquire();
  const auto app = open_raw_sql(fixture());
  app->run("BEGIN");
  app->guard(held);
  auto waiter = waiting(db, "a");
  auto other = waiting(db, "a");
  other.stop();
  EXPECT_TRUE(eventually([&] { return queued("a") == 1; })) << "and may leave";
  const auto renewals = quick.stats().renewals;
  EXPECT_TRUE(eventually([&] { return quick.stats().renewals >= renewals + 2; }));
  EXPECT_TRUE(held);
  app->run("COMMIT");
}

TEST_P(postgres_guard_test, a_lock_released_inside_goes_to_its_waiter_when_the_transaction_ends) {
  hold held = mutex(db, "a").acquire();
  const client other = new_client();
  auto waiter = waiting(other, "a");
  const auto app = open_raw_sql(fixture());
  app->run("BEGIN");
  app->guard(held);
  EXPECT_EQ(held.release(), release_result::pending);
  EXPECT_EQ(holder_of("a"), held.id().to_string());
  app->run("COMMIT");
  EXPECT_GT(waiter.take().token(), held.token());
}

TEST_P(postgres_guard_test, a_dead_holders_guard_is_respected_to_its_end) {
  const client vanished = new_client(slow_to_renew());
  const hold held = mutex(vanished, "a").acquire();
  const auto app = open_raw_sql(fixture());
  app->run("BEGIN");
  app->guard(held);
  kill(lease_of("a"));
  EXPECT_FALSE(mutex(db, "a").try_acquire_for(200ms));
  app->run("COMMIT");
  EXPECT_TRUE(mutex(db, "a").try_acquire_for(20s));
}

TEST_P(postgres_guard_test, the_libpqxx_adapter_refuses_what_ends_before_the_transaction) {
  const hold held = mutex(db, "a").acquire();
  pqxx::connection app{fixture().url()};
  const auto refused = [&](pqxx::transaction_base& tx) {
    return code_of([&] { guard(tx, held); }) == errc::invalid_argument;
  };
  {
    pqxx::nontransaction none{app};
    EXPECT_TRUE(refused(none));
  }
  pqxx::work whole{app};
  {
    pqxx::subtransaction part{whole};
    EXPECT_TRUE(refused(part));
  }
  guard(whole, held);
}

TEST_P(postgres_guard_test, the_libpqxx_adapter_proves_and_refuses) {
  hold held = mutex(db, "a").acquire();
  pqxx::connection app{fixture().url()};
  {
    pqxx::work tx{app};
    EXPECT_NO_THROW(guard(tx, held));
    EXPECT_EQ(held.release(), release_result::pending);
    tx.commit();
  }
  const client slow = new_client(slow_to_renew());
  const hold lost = mutex(slow, "b").acquire();
  ASSERT_TRUE(admin{db}.release("b"));
  pqxx::transaction<pqxx::isolation_level::serializable> tx{app};
  EXPECT_EQ(code_of([&] { guard(tx, lost); }), errc::hold_lost);
}

TEST_P(postgres_guard_test, reads_the_name_whatever_the_connections_character_set) {
  const hold held = mutex(db, "na\u00EFve \U0001F600").acquire();
  const auto by_libpq = open_raw_sql(fixture());
  pqxx::connection by_libpqxx{fixture().url()};
  for (const std::string set : {"latin1", "utf8"}) {
    by_libpq->run("SET client_encoding = '" + set + "'");
    by_libpq->run("BEGIN");
    EXPECT_NO_THROW(by_libpq->guard(held)) << set;
    by_libpq->run("ROLLBACK");
    by_libpqxx.set_client_encoding(set);
    pqxx::work tx{by_libpqxx};
    EXPECT_NO_THROW(guard(tx, held)) << set;
  }
}

TEST_P(postgres_guard_test, a_transaction_that_has_failed_is_refused) {
  const hold held = mutex(db, "a").acquire();
  const auto app = open_raw_sql(fixture());
  app->run("BEGIN");
  EXPECT_ANY_THROW(app->run("SELECT 1/0"));
  EXPECT_EQ(code_of([&] { app->guard(held); }), errc::invalid_argument);
}

// Without PostgreSQL among the stores of the run, the suite has no tests.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(postgres_guard_test);
INSTANTIATE_TEST_SUITE_P(stores, postgres_guard_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);

}  // namespace
}  // namespace rowlock::test

#endif
