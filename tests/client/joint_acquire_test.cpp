#include "client/call/joint_acquire.hpp"

#include "client/call/joint_call.hpp"

#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

namespace rowlock::test {
namespace {

class joint_acquire_test : public virtual_client_test {
 protected:
  using holds = std::vector<client_layer::hold_ptr>;

  joint_acquire_test() {
    // Makes the names, and the client's lease.
    for (const auto* name : {"a", "b", "c"}) mutex(db, name).acquire().release();
  }
  ~joint_acquire_test() override {
    if (db_is_closed()) return;
    for (const auto& hold : taken) engine()->releaser().release(*hold);
  }

  const std::shared_ptr<client_layer::engine>& engine() { return primitives::access::engine(db); }
  bool db_is_closed() { return engine()->services().queue.is_stopping(); }
  static std::vector<model::lock_request> wanted(const std::vector<std::string>& names) {
    std::vector<model::lock_request> all;
    for (const auto& name : names) all.push_back({{name}});
    return all;
  }
  // Acquires in a thread of its own.
  std::future<holds> acquiring(const std::vector<std::string>& names,
                               const client_layer::wait_limit& how_long = {},
                               const acquire_options& how = {}) {
    // So that the group begins with an edit; acquire_all_test also begins it with the statement for free locks.
    for (const auto& name : names) engine()->services().contended.add(name);
    return in_background([this, names, how_long, how] {
      return client_layer::acquire_together(*engine(), wanted(names), how_long, how);
    });
  }
  holds& result(std::future<holds> call) {
    EXPECT_TRUE(soon([&] { return call.wait_for(0s) == std::future_status::ready; }));
    return taken = call.get();
  }
  bool nothing_is_held() {
    return soon([&] {
      return holder_of("a").empty() && holder_of("c").empty() && queued("a") + queued("b") + queued("c") == 0;
    });
  }

  static constexpr client_layer::wait_limit without_waiting{false, {}};
  client rival = new_client();
  client db = new_client();
  holds taken;
};

TEST_F(joint_acquire_test, takes_what_is_free_in_one_edit_and_in_the_order_of_the_names) {
  const auto edits = faults.count("edit");
  result(acquiring({"a", "b", "c"}));
  EXPECT_EQ(faults.count("edit"), edits + 1);
  ASSERT_EQ(taken.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(taken[i]->name(), std::vector<std::string>({"a", "b", "c"})[i]);
    EXPECT_EQ(taken[i]->id().to_string(), holder_of(taken[i]->name()));
  }
}

TEST_F(joint_acquire_test, without_waiting_takes_all_or_none) {
  const hold held = mutex(rival, "b").acquire();
  EXPECT_THAT(result(acquiring({"a", "b", "c"}, without_waiting)), testing::IsEmpty());
  EXPECT_EQ(holder_of("a"), "");
  EXPECT_EQ(holder_of("c"), "");
  EXPECT_EQ(queued("b"), 0U);
  EXPECT_EQ(db.stats().busy, 1U);
}

TEST_F(joint_acquire_test, each_lock_takes_the_room_of_one_hold) {
  const auto most = engine()->environment().holds_at_most();
  const auto has_room_for = [&](std::size_t many) {
    try {
      return static_cast<bool>(engine()->take_room(many));
    } catch (const error&) {
      return false;
    }
  };
  hold held = mutex(rival, "b").acquire();
  auto call = acquiring({"a", "b", "c"});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  EXPECT_TRUE(has_room_for(most - 3)) << "one is held, one is waited for, and one is still to be requested";
  EXPECT_FALSE(has_room_for(most - 2));
  held.release();
  EXPECT_EQ(result(std::move(call)).size(), 3U);
  EXPECT_TRUE(has_room_for(most - 3)) << "all are held";
  EXPECT_FALSE(has_room_for(most - 2));
}

// Two callers that wait hold only names that precede the ones they wait for, so they do not wait for each other.
TEST_F(joint_acquire_test, waits_for_the_first_that_is_held_and_takes_none_behind_it) {
  hold held = mutex(rival, "b").acquire();
  auto call = acquiring({"a", "b", "c"});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  EXPECT_NE(holder_of("a"), "");
  EXPECT_EQ(holder_of("c"), "");
  held.release();
  EXPECT_EQ(result(std::move(call)).size(), 3U);
}

TEST_F(joint_acquire_test, a_stop_ends_the_wait_and_leaves_nothing) {
  const hold held = mutex(rival, "b").acquire();
  std::stop_source stop;
  auto call = acquiring({"a", "b"}, {}, {.stop = stop.get_token()});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  stop.request_stop();
  EXPECT_EQ(code_of([&] { result(std::move(call)); }), errc::cancelled);
  EXPECT_TRUE(nothing_is_held());
}

TEST_F(joint_acquire_test, a_time_that_is_up_leaves_nothing) {
  const hold held = mutex(rival, "b").acquire();
  const auto begun = time.now();
  EXPECT_THAT(result(acquiring({"a", "b"}, {true, 3s})), testing::IsEmpty());
  EXPECT_GE(time.now(), begun + 3s);
  EXPECT_TRUE(nothing_is_held());
}

// The holder's lease has expired, and cannot be killed while the holder's guarded transaction is open.
TEST_F(joint_acquire_test, asks_a_guarded_lock_of_the_dead_no_more_often_than_one_lock_does) {
  const hold held = mutex(rival, "b").acquire();
  ASSERT_TRUE(server->guard("b", model::hold_id{held.id()}));
  server->expire(server->snapshot().locks.at("b").row.lease.value(), 1min);
  const auto edits = faults.count("edit");
  EXPECT_THAT(result(acquiring({"a", "b"}, {true, 3s})), testing::IsEmpty());
  EXPECT_LT(faults.count("edit"), edits + 100);
  server->unguard("b");
  EXPECT_TRUE(nothing_is_held());
}

// A rival's transaction has locked the row of the expired lease. Until that transaction ends, each edit says that the
// lease must be killed first. The clock stands still, so a pause lasts until the test moves it.
TEST_F(joint_acquire_test, pauses_while_a_dead_holder_cannot_be_killed) {
  for (const auto& how_long : {without_waiting, client_layer::wait_limit{}}) {
    const client dead = new_client();
    const hold held = mutex(dead, "b").acquire();
    const auto lease = server->snapshot().locks.at("b").row.lease.value();
    server->lock_row(lease);
    server->expire(lease, 1min);
    const auto edits = faults.count("edit");
    auto call = acquiring({"a", "b"}, how_long);
    ASSERT_TRUE(eventually([&] { return faults.count("edit") > edits + 10; }));
    virtual_time::let_others_sleep();
    EXPECT_LT(faults.count("edit"), edits + 50);
    server->unlock_row(lease);
    EXPECT_EQ(result(std::move(call)).size(), 2U);
    for (const auto& hold : taken) engine()->releaser().release(*hold);
    taken.clear();
  }
}

TEST_F(joint_acquire_test, releases_what_it_has_when_it_cannot_go_on) {
  hold held = mutex(rival, "b").acquire();
  auto call = acquiring({"a", "b", "c"});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  server->delete_lock("c");
  counting_semaphore(rival, "c", 2).acquire().release();
  held.release();
  EXPECT_EQ(code_of([&] { result(std::move(call)); }), errc::mismatch);
  EXPECT_TRUE(soon([&] { return holder_of("a").empty() && holder_of("b").empty(); }));
}

TEST_F(joint_acquire_test, a_hold_that_was_taken_away_meanwhile_is_acquired_anew) {
  hold held = mutex(rival, "b").acquire();
  auto call = acquiring({"a", "b"});
  ASSERT_TRUE(eventually([&] { return queued("b") == 1; }));
  const auto first = holder_of("a");
  ASSERT_TRUE(admin{rival}.release("a"));
  ASSERT_TRUE(soon([&] { return engine()->holds().empty(); })) << "a notice came with a wake-up";
  held.release();
  ASSERT_EQ(result(std::move(call)).size(), 2U);
  EXPECT_NE(holder_of("a"), first);
  for (const auto& hold : taken) EXPECT_EQ(hold->id().to_string(), holder_of(hold->name()));
}

TEST_F(joint_acquire_test, a_closed_client_acquires_nothing) {
  db.close();
  EXPECT_EQ(code_of([&] { acquiring({"a", "b"}).get(); }), errc::closed);
  EXPECT_TRUE(nothing_is_held());
}

// The client cannot make its lease, so no lock is ever asked for.
class joint_without_lease_test : public virtual_client_test {
 protected:
  struct outcome_of_call {
    bool ended = false;  // by itself
    std::optional<errc> failure{};
    bool granted = false;
  };

  // Runs the call in a thread of its own, while time passes. It is stopped if it does not end.
  template <class Call>
  outcome_of_call outcome_of(Call call) {
    std::stop_source stop;
    auto running = in_background([&]() -> outcome_of_call {
      try {
        return {.granted = static_cast<bool>(call(acquire_options{.stop = stop.get_token()}))};
      } catch (const error& failure) {
        return {.failure = failure.kind()};
      }
    });
    // Far longer than a call waits for a database that is silent.
    bool ended = false;
    for (const auto end = time.now() + 90s; !ended && time.now() < end; advance(100ms)) {
      ended = running.wait_for(0s) == std::future_status::ready;
    }
    stop.request_stop();
    EXPECT_TRUE(soon([&] { return running.wait_for(0s) == std::future_status::ready; }));
    auto result = running.get();
    result.ended = ended;
    return result;
  }
  void expect_failure(const outcome_of_call& result, errc expected, const std::string& what) {
    EXPECT_TRUE(result.ended) << what;
    EXPECT_EQ(result.failure, expected) << what;
  }

  static constexpr int for_ever = 1'000'000;
  client giver = new_client();
  client db = new_client();
  mutex a{db, "a"}, b{db, "b"};
  const std::string text = mutex(giver, "m").acquire().transfer(1h);
  const std::function<hold(const acquire_options&)> adopting = [this](const auto&) {
    return adopt(db, text);
  };
};

TEST_F(joint_without_lease_test, a_permanent_refusal_is_thrown) {
  faults.deny("create_lease", for_ever);
  expect_failure(outcome_of([&](const auto& how) {
                   return acquire_all({a, b}, how);
                 }),
                 errc::privilege, "waits for ever");
  expect_failure(outcome_of([&](const auto& how) {
                   return try_acquire_all_for(1h, {a, b}, how);
                 }),
                 errc::privilege, "waits for an hour");
  expect_failure(outcome_of([&](const auto& how) {
                   return try_acquire_all({a, b}, how);
                 }),
                 errc::privilege, "does not wait");
  faults.forget();
  EXPECT_TRUE(outcome_of([&](const auto& how) { return acquire_all({a, b}, how); }).granted);
}

TEST_F(joint_without_lease_test, a_permanent_refusal_ends_an_asynchronous_call) {
  faults.deny("create_lease", for_ever);
  hand_executor by_hand;
  std::vector<acquired_all> got;
  const auto done = [&](acquired_all one) { got.push_back(std::move(one)); };
  std::stop_source stop;
  acquire_all_async(by_hand.get(), {a, b}, done, {.stop = stop.get_token()});
  try_acquire_all_async(by_hand.get(), {a, b}, 0ms, done);
  for (int i = 0; i < 600 && by_hand.size() < 2; ++i) advance(100ms);
  EXPECT_EQ(by_hand.size(), 2U);
  stop.request_stop();
  while (got.size() < 2 && by_hand.run_one()) {
  }
  for (const auto& one : got) {
    ASSERT_TRUE(one.failure);
    EXPECT_EQ(one.failure->kind(), errc::privilege);
  }
}

// A group says what one lock says: nobody was asked, so the locks are not known to be busy.
TEST_F(joint_without_lease_test, a_failure_that_lasts_is_thrown_when_the_time_is_up) {
  for (const bool is_lost : {false, true}) {
    // A client that has failed goes on trying, and might have its lease before the next fault is there.
    client fresh = new_client();
    mutex one{fresh, "a"}, two{fresh, "b"};
    is_lost ? faults.lose_request("create_lease", for_ever) : faults.refuse("create_lease", for_ever);
    const auto expected = is_lost ? errc::unreachable : errc::contention;
    expect_failure(outcome_of([&](const auto& how) { return one.try_acquire_for(3s, how); }), expected,
                   "one lock");
    expect_failure(outcome_of([&](const auto& how) {
                     return try_acquire_all_for(3s, {one, two}, how);
                   }),
                   expected, "a group");
    expect_failure(outcome_of([&](const auto& how) {
                     return try_acquire_all({one, two}, how);
                   }),
                   expected, "a group that does not wait");
    faults.forget();
  }
}

TEST_F(joint_without_lease_test, a_failure_that_passes_only_delays_whoever_waits) {
  faults.refuse("create_lease", 3);
  EXPECT_TRUE(outcome_of([&](const auto& how) { return acquire_all({a, b}, how); }).granted);
}

TEST_F(joint_without_lease_test, an_earlier_failure_says_nothing_about_a_later_call) {
  faults.deny("create_lease", for_ever);
  expect_failure(outcome_of([&](const auto& how) { return a.acquire(how); }), errc::privilege, "earlier");
  faults.forget();
  EXPECT_TRUE(outcome_of([&](const auto& how) { return try_acquire_all({a, b}, how); }).granted);
}

TEST_F(joint_without_lease_test, an_adoption_that_is_denied_its_lease_says_so_at_once) {
  faults.deny("create_lease", for_ever);
  const auto begun = time.now();
  expect_failure(outcome_of(adopting), errc::privilege, "denied");
  EXPECT_LT(time.now() - begun, 5s);
  faults.forget();
  EXPECT_TRUE(outcome_of(adopting).granted);
}

TEST_F(joint_without_lease_test, an_adoption_without_a_lease_says_why_when_the_time_is_up) {
  faults.refuse("create_lease", for_ever);
  expect_failure(outcome_of(adopting), errc::contention, "refused");
  faults.forget();
  EXPECT_TRUE(outcome_of(adopting).granted);
}

}  // namespace
}  // namespace rowlock::test
