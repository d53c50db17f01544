// What is on disk before it is answered, what need not be, and how a client learns that it was lost.
#include "contract/decisions.hpp"
#include "store/postgres_server.hpp"
#include "store/postgres_test.hpp"

#include <rowlock/rowlock.hpp>

#include <functional>
#include <initializer_list>
#include <tuple>

namespace rowlock::test {
namespace {

class postgres_durability_test : public postgres_test {
 protected:
  std::string server_url() const override {
    server_ = std::make_unique<postgres_server>();
    return server_->url();
  }
  // A session that has looked once: the first look reads catalogs, and may prune their pages, which is written to the
  // log but not to the disk.
  std::unique_ptr<store::session> ready() {
    auto session = postgres_test::ready();
    std::ignore = on_disk();
    return session;
  }
  // Whether everything that was written is on disk. The server writes nothing by itself meanwhile. If a record ends
  // with its page, the position for the next one is after the header of the following page (24 bytes, or 40 in a new
  // file).
  testing::AssertionResult on_disk() {
    const auto left = std::stoll(side_->value(
        "SELECT CASE WHEN header IN (24, 40) AND header = left_over THEN 0 ELSE left_over END "
        "FROM (SELECT pg_wal_lsn_diff(i, f) AS left_over, mod(pg_wal_lsn_diff(i, '0/0'), 8192) AS header "
        "      FROM (SELECT pg_current_wal_insert_lsn() AS i, pg_current_wal_flush_lsn() AS f) "
        "           AS position) AS parts"));
    if (left <= 0) return testing::AssertionSuccess() << "all is on disk";
    return testing::AssertionFailure() << left << " bytes of the log are not on disk";
  }
  void crash() {
    server_->crash();
    server_->start();
    side_ = std::make_unique<raw_postgres>(server_->url());
    side_->run("SET search_path = " + options_.schema);
  }

  mutable std::unique_ptr<postgres_server> server_;
};

TEST_F(postgres_durability_test, is_what_each_verb_promises) {
  const auto session = ready();
  const auto lease = new_lease(*session);
  EXPECT_TRUE(on_disk()) << "create_lease";
  create(*session, "a");
  create(*session, "b");
  for (int i = 0; i < 3; ++i) {
    const claim one{"a", lease, hold_id::random()};
    ASSERT_TRUE(acquire(*session, one));
    EXPECT_TRUE(on_disk()) << "acquire";
    ASSERT_TRUE(release(*session, one, store::durability::asynchronous));
    EXPECT_FALSE(on_disk()) << "an asynchronous release";
    // The setting ended with its transaction.
    ASSERT_TRUE(renew(*session, lease));
    EXPECT_TRUE(on_disk()) << "renew, after an asynchronous release";
    ASSERT_TRUE(acquire(*session, one));
    ASSERT_TRUE(release(*session, one, store::durability::durable));
    EXPECT_TRUE(on_disk()) << "a durable release";

    const store::acquire_item batch[] = {{.name = "a", .lease = lease, .hold = hold_id::random()},
                                         {.name = "b", .lease = lease, .hold = hold_id::random()}};
    ASSERT_EQ(session->acquire(batch).size(), 2U);
    EXPECT_TRUE(on_disk()) << "a batch of acquires";
    const store::release_item releases[] = {{"a", lease, batch[0].hold}, {"b", lease, batch[1].hold}};
    ASSERT_EQ(session->release(releases, store::durability::asynchronous).size(), 2U);
    EXPECT_FALSE(on_disk()) << "an asynchronous batch of releases";

    edit(*session, "a", grant_to(lease, hold_id::random()));
    EXPECT_TRUE(on_disk()) << "a grant in an edit";

    const claim holder{"b", lease, hold_id::random()};
    const claim waiter{"b", lease, hold_id::random()};
    ASSERT_TRUE(acquire(*session, holder));
    ASSERT_TRUE(session->enqueue({.name = "b", .lease = lease, .hold = waiter.hold}, 0us));
    EXPECT_FALSE(on_disk()) << "a place in the queue";
    ASSERT_TRUE(session->hand_over({"b", lease, holder.hold}, 0us));
    EXPECT_TRUE(on_disk()) << "a hand-over";
    ASSERT_TRUE(release(*session, waiter, store::durability::durable));
    edit(*session, "a", [](const store::lock_view& view) {
      store::lock_change change;
      change.row = view.row;
      take(change);
      return change;
    });
    EXPECT_FALSE(on_disk()) << "an edit with nothing durable";
    session->send_wakeups(std::vector<store::wakeup>{{lease, hold_id::random()}});
    EXPECT_FALSE(on_disk()) << "send_wakeups";
  }
}

TEST_F(postgres_durability_test, is_the_same_for_shared_holds) {
  const auto session = ready();
  const auto lease = new_lease(*session);
  const auto shared_by = [&](const std::string& name) { return permits_of_five(name, lease, 2); };
  const auto give_up = [](const store::acquire_item& held) {
    return store::release_item{held.name, held.lease, held.hold, model::lock_mode::shared};
  };
  session->create(std::vector<model::lock_definition>{{"a", model::lock_kind::semaphore, 5},
                                                      {"b", model::lock_kind::semaphore, 5}});
  for (const bool several : {false, true, false}) {
    std::vector acquires{shared_by("a")};
    if (several) acquires.push_back(shared_by("b"));
    std::vector<store::release_item> releases;
    for (const auto& one : acquires) releases.push_back(give_up(one));
    ASSERT_EQ(session->acquire(acquires).size(), acquires.size());
    EXPECT_TRUE(on_disk()) << "an acquire";
    ASSERT_EQ(session->release(releases, store::durability::asynchronous).size(), releases.size());
    EXPECT_FALSE(on_disk()) << "an asynchronous release";
    ASSERT_EQ(session->acquire(acquires).size(), acquires.size());
    EXPECT_TRUE(on_disk()) << "an acquire, after an asynchronous release";
    ASSERT_EQ(session->release(releases, store::durability::durable).size(), releases.size());
    EXPECT_TRUE(on_disk()) << "a durable release";
  }
}

TEST_F(postgres_durability_test, of_a_release_may_fail_and_the_marker_tells) {
  auto session = ready();
  const auto kept = held(*session, "a");
  const auto lost = held(*session, "b");
  const auto marker = session->read_database_state().marker;
  ASSERT_NE(marker, "");
  ASSERT_TRUE(release(*session, lost));
  crash();
  session = connect();
  EXPECT_EQ(session->read_database_state().marker, "");
  EXPECT_TRUE(renew(*session, kept.lease));
  EXPECT_EQ(session->renew({&kept.lease, 1}).database_state.marker, "") << "every renewal tells";
  const store::hold_query queries[] = {{"a", kept.hold}, {"b", lost.hold}};
  const auto found = session->find(queries);
  EXPECT_EQ(found[0].state, store::hold_status::where::held);
  EXPECT_EQ(found[1].state, store::hold_status::where::held) << "the release was not on disk";
  EXPECT_TRUE(release(*session, lost)) << "sent again";
  EXPECT_NE(session->record_database_state().marker, marker);
}

TEST_F(postgres_durability_test, of_tokens_spans_the_promotion_of_a_standby) {
  auto session = ready();
  const auto hold = held(*session, "a");
  const auto before = session->read_database_state();
  postgres_server standby{*server_};
  try {
    store::open_postgres(standby.url(), options_)->connect();
    ADD_FAILURE() << "a standby cannot grant";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::read_only) << thrown.what();
  }
  standby.promote();
  session = store::open_postgres(standby.url(), options_)->connect();
  const auto promoted = session->read_database_state();
  EXPECT_NE(promoted.identity, before.identity);
  EXPECT_EQ(promoted.recorded_identity, before.identity);
  EXPECT_EQ(promoted.marker, "");
  ASSERT_TRUE(release(*session, hold));
  const claim next{"a", hold.lease, hold_id::random()};
  EXPECT_FALSE(acquire(*session, next)) << "before the epoch has risen";
  const auto refreshed = session->record_database_state();
  EXPECT_GT(refreshed.epoch, before.epoch);
  EXPECT_GE(acquire(*session, next).value_or(0), model::epoch_floor(refreshed.epoch));
}

TEST_F(postgres_durability_test, of_a_standby_is_not_needed_by_who_only_reads) {
  const auto session = ready();
  const auto hold = held(*session, "a");
  session->set_skew(std::chrono::seconds{2});
  const auto on_primary = session->read_database_state();
  postgres_server standby{*server_};
  options settings;
  settings.schema = options_.schema;
  settings.read_only = true;
  const client db = rowlock::connect(standby.url(), settings);
  admin look{db};
  EXPECT_EQ(look.list().size(), 1U);
  EXPECT_EQ(look.show("a").value().holders.size(), 1U);
  EXPECT_TRUE(look.queue("a").empty());
  EXPECT_EQ(look.epoch(), on_primary.epoch);
  EXPECT_EQ(look.skew(), std::chrono::seconds{2});
  EXPECT_TRUE(look.history("a", 1).empty());
  EXPECT_TRUE(look.recordings().empty());
  migrator schema{standby.url(), settings};
  EXPECT_TRUE(schema.status().at(0).applied);
  EXPECT_NO_THROW(static_cast<void>(schema.verify()));
  for (const auto& write : std::initializer_list<std::function<void()>>{
           [&] { std::ignore = mutex(db, "b").try_acquire(); }, [&] { look.release("a"); },
           [&] { look.raise_epoch(); }}) {
    try {
      write();
      ADD_FAILURE() << "written";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::read_only) << thrown.what();
    }
  }
}

// Both standbys are then on timeline 2, with one record of the epoch; only their clocks tell them apart, even within a
// second.
TEST_F(postgres_durability_test, of_tokens_tells_two_promoted_standbys_apart) {
  const auto primary = ready();
  const auto hold = held(*primary, "a");
  std::vector<model::token> granted;
  for (int i = 0; i < 2; ++i) {
    postgres_server standby{*server_};
    standby.promote();
    const auto session = store::open_postgres(standby.url(), options_)->connect();
    ASSERT_TRUE(release(*session, hold));
    session->record_database_state();
    const auto told = acquire(*session, {"a", hold.lease, hold_id::random()});
    ASSERT_TRUE(told);
    granted.push_back(*told);
  }
  EXPECT_NE(granted[0], granted[1]);
}

}  // namespace
}  // namespace rowlock::test
