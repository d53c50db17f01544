// Acquire, release and renew rewrite a row on its page and touch no index.
#include "store/postgres_server.hpp"
#include "store/postgres_test.hpp"

namespace rowlock::test {
namespace {

// The server belongs to the test: other tests' transactions would keep old versions on the pages.
class postgres_hot_update_test : public postgres_test {
 protected:
  std::string server_url() const override {
    server_ = std::make_unique<postgres_server>();
    return server_->url();
  }

  mutable std::unique_ptr<postgres_server> server_;
};

TEST_F(postgres_hot_update_test, is_what_acquire_and_release_do) {
  auto session = ready();
  const auto lease = new_lease(*session);
  std::vector<model::lock_definition> locks;
  for (int i = 0; i < 100; ++i) locks.push_back({.name = "lock/" + std::to_string(1000 + i)});
  session->create(locks);
  restart(session);
  const auto written = counter("rowlock_lock", "n_tup_upd");
  const auto hot = counter("rowlock_lock", "n_tup_hot_upd");

  for (int round = 0; round < 20; ++round) {
    std::vector<store::acquire_item> acquires;
    std::vector<store::release_item> releases;
    for (const auto& lock : locks) {
      acquires.push_back({.name = lock.name, .lease = lease, .hold = hold_id::random()});
      releases.push_back({lock.name, lease, acquires.back().hold});
    }
    ASSERT_EQ(session->acquire(acquires).size(), 100U);
    ASSERT_EQ(session->release(releases, store::durability::asynchronous).size(), 100U);
    for (int i = 0; i < 10; ++i) {
      const claim one{locks[0].name, lease, hold_id::random()};
      ASSERT_TRUE(acquire(*session, one));
      ASSERT_TRUE(release(*session, one));
    }
  }
  restart(session);
  EXPECT_EQ(counter("rowlock_lock", "n_tup_upd") - written, 20 * (200 + 20));
  // A few updates are not HOT, because somebody's snapshot still needs old versions on their pages; with an index none
  // would be.
  EXPECT_GE(counter("rowlock_lock", "n_tup_hot_upd") - hot, 20 * (200 + 20) * 95 / 100);
}

TEST_F(postgres_hot_update_test, is_what_shared_holds_do_to_their_lock) {
  auto session = ready();
  const auto lease = new_lease(*session);
  session->create(std::vector<model::lock_definition>{{"a", model::lock_kind::semaphore, 5}});
  restart(session);
  const auto written = counter("rowlock_lock", "n_tup_upd");
  const auto hot = counter("rowlock_lock", "n_tup_hot_upd");
  for (int round = 0; round < 200; ++round) {
    const store::acquire_item wanted[] = {{.name = "a",
                                           .kind = model::lock_kind::semaphore,
                                           .capacity = 5,
                                           .lease = lease,
                                           .hold = hold_id::random(),
                                           .mode = model::lock_mode::shared}};
    ASSERT_EQ(session->acquire(wanted).size(), 1U);
    const store::release_item given[] = {{"a", lease, wanted[0].hold, model::lock_mode::shared}};
    ASSERT_EQ(session->release(given, store::durability::asynchronous).size(), 1U);
  }
  restart(session);
  EXPECT_EQ(counter("rowlock_lock", "n_tup_upd") - written, 400);
  EXPECT_GE(counter("rowlock_lock", "n_tup_hot_upd") - hot, 400 * 95 / 100);
}

TEST_F(postgres_hot_update_test, is_what_renewals_do) {
  auto session = ready();
  const auto lease = new_lease(*session);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(renew(*session, lease));
  restart(session);
  EXPECT_EQ(counter("rowlock_lease", "n_tup_upd"), 300);
  EXPECT_GE(counter("rowlock_lease", "n_tup_hot_upd"), 300 * 95 / 100);
}

// What acquire writes must never be indexed, and no plan may read a whole table.
TEST_F(postgres_hot_update_test, is_possible_for_no_index_covers_what_is_written) {
  EXPECT_EQ(
      side_->value("SELECT string_agg(indexdef, ';') "
                   "FROM pg_indexes WHERE schemaname = $1 AND tablename = 'rowlock_lock'",
                   {options_.schema}),
      "CREATE UNIQUE INDEX rowlock_lock_pkey ON " + options_.schema + ".rowlock_lock USING btree (name)");
}

}  // namespace
}  // namespace rowlock::test
