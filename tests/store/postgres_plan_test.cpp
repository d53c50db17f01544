// Statements are planned without their values (plan_cache_mode), and again after each ANALYZE, which the
// server runs by itself. What a plan computes in advance must not fail, whatever was asked before.
#include "contract/decisions.hpp"
#include "store/postgres_test.hpp"

#include <functional>
#include <vector>

namespace rowlock::test {
namespace {

class postgres_plan_test : public postgres_test {
 protected:
  void make_anew() {
    for (const auto* table : {"lock", "lease", "queue", "permit", "meta"}) {
      side_->run("ANALYZE " + options_.prefix + table);
    }
  }
};

TEST_F(postgres_plan_test, made_anew_serves_each_verb) {
  const auto session = ready();
  const auto lease = new_lease(*session);
  const auto other = new_lease(*session);
  create(*session, "a");
  create(*session, "b");
  session->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5},
                                                      {"t", model::lock_kind::semaphore, 5}});
  const auto shared = [&](const std::string& name) { return permits_of_five(name, lease); };
  const auto use_of_many = [&](std::vector<store::acquire_request> wanted) {
    std::vector<store::release_request> held;
    for (const auto& one : wanted) held.push_back({one.name, one.lease, one.hold, one.mode});
    EXPECT_EQ(session->acquire(wanted).size(), wanted.size());
    EXPECT_EQ(session->release(held, store::durability::asynchronous).size(), held.size());
    EXPECT_TRUE(session->release(held, store::durability::durable).empty());
  };
  const std::function<void()> verbs[] = {
      [&] { use_of_many({{.name = "a", .lease = lease, .hold = hold_id::random()}}); },
      [&] {
        use_of_many({{.name = "a", .lease = lease, .hold = hold_id::random()},
                     {.name = "b", .lease = lease, .hold = hold_id::random()}});
      },
      [&] { use_of_many({shared("s")}); },
      [&] {
        use_of_many({shared("s"), shared("t")});
      },
      [&] {
        const claim holder{"a", lease, hold_id::random()};
        const claim waiter{"a", other, hold_id::random()};
        const store::release_request given{"a", lease, holder.hold};
        ASSERT_TRUE(acquire(*session, holder));
        EXPECT_FALSE(session->hand_over(given, 0us)) << "nobody waits";
        EXPECT_FALSE(session->enqueue({.name = "b", .lease = other, .hold = waiter.hold}, 0us)) << "free";
        EXPECT_TRUE(session->enqueue({.name = "a", .lease = other, .hold = waiter.hold}, 0us));
        EXPECT_FALSE(session->enqueue({.name = "a", .lease = other, .hold = waiter.hold}, 0us)) << "twice";
        EXPECT_EQ(session->queue("a").size(), 1U);
        EXPECT_TRUE(session->hand_over(given, 0us));
        EXPECT_FALSE(session->hand_over(given, 0us)) << "twice";
        EXPECT_TRUE(release(*session, waiter));
      },
      [&] { EXPECT_EQ(edit(*session, "a", nothing), store::edit_result::committed); },
      [&] { EXPECT_EQ(edit(*session, "missing", nothing), store::edit_result::missing); },
      [&] {
        const auto hold = hold_id::random();
        EXPECT_EQ(edit(*session, "a", enqueue(lease, hold)), store::edit_result::committed);
        EXPECT_EQ(edit(*session, "a", leave(hold)), store::edit_result::committed);
      },
      [&] {
        const store::hold_query wanted[] = {{"a", hold_id::random()}, {"missing", hold_id::random()}};
        EXPECT_EQ(session->find(wanted).size(), 2U);
        EXPECT_EQ(session->list().size(), 4U);
        EXPECT_TRUE(session->show("a"));
        EXPECT_FALSE(session->show("missing"));
      },
      [&] {
        EXPECT_TRUE(renew(*session, lease));
        EXPECT_FALSE(renew(*session, lease_id::random()));
        const lease_id gone[] = {lease_id::random()};
        session->end(gone);
        EXPECT_TRUE(session->kill(gone, 0us).empty());
        EXPECT_TRUE(session->find_stale(10, 0us).expired_leases.empty());
        EXPECT_EQ(session->collect(1h, 10), 0);
        session->notify(gone);
        session->refresh_world();
      },
  };
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    for (std::size_t i = 0; i < std::size(verbs); ++i) {
      SCOPED_TRACE(i);
      EXPECT_NO_THROW(verbs[i]());
      make_anew();
      EXPECT_NO_THROW(verbs[i]());
    }
  }
}

}  // namespace
}  // namespace rowlock::test
