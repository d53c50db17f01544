#include "client/call/joint_move.hpp"

#include "client/client_test.hpp"
#include "client/parts_test.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace rowlock::test {
namespace {

// acquire_all with a ttl: all locks are granted, and then the edit that moves them to leases of their own meets a
// fault.
class joint_move_test : public virtual_client_test {
 protected:
  joint_move_test() { std::ignore = acquire_all({a, b}); }

  std::future<hold_set> asking(const std::stop_token& stop = {}) {
    // So that the group begins with an edit, and both its statements are edits.
    primitives::access::engine(db)->services().contended.add("a");
    return in_background([this, stop] {
      return try_acquire_all_for(1h, {a, b}, {.ttl = 60s, .stop = stop});
    });
  }
  // Returns when the move has happened; its answer hangs until unblock().
  std::future<hold_set> asking_until_moved() {
    faults.hang_answer("edit");  // the answer of the grants, so that the fault of the next edit can be set
    auto call = asking();
    EXPECT_TRUE(eventually([&] { return server->blocked() == 1; }));
    faults.hang_answer("edit");
    const auto edits = faults.count("edit");
    server->unblock();
    EXPECT_TRUE(soon([&] { return faults.count("edit") > edits && server->blocked() == 1; }));
    EXPECT_TRUE(eventually([&] { return stand_on_their_own(); }));
    return call;
  }
  bool is_over(const std::future<hold_set>& call) {
    return soon([&] { return call.wait_for(0s) == std::future_status::ready; });
  }
  model::lease_id lease_of(const std::string& name) const {
    return server->snapshot().locks.at(name).row.lease.value_or(model::lease_id{});
  }
  bool stand_on_their_own() { return lease_of("a") != lease_of("b"); }
  bool nothing_is_left() {
    return soon([&] { return holder_of("a").empty() && holder_of("b").empty() && leases() == 1; });
  }
  void expect_moved(const hold_set& all) {
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(all);
    for (const auto& one : all) EXPECT_EQ(one.id().to_string(), holder_of(one.name()));
    EXPECT_TRUE(stand_on_their_own());
  }

  client db = new_client();
  mutex a{db, "a"}, b{db, "b"};
};

TEST_F(joint_move_test, costs_one_edit_more) {
  const auto edits = faults.count("edit");
  auto call = asking();
  ASSERT_TRUE(is_over(call));
  EXPECT_EQ(faults.count("edit"), edits + 2);
  expect_moved(call.get());
}

TEST_F(joint_move_test, the_end_of_a_short_ttl_is_noticed) {
  const auto all = acquire_all({a, b}, {.ttl = 200ms});
  advance(200ms);
  EXPECT_TRUE(eventually([&] { return db.stats().lost == 2; }));
}

// The hold is not renewed, and its holder knows that it is over before the database grants the lock to others.
TEST_F(joint_move_test, ends_at_the_ttl) {
  const auto all = acquire_all({a, b}, {.ttl = 60s});
  pass_renewals(db, 5);
  EXPECT_TRUE(all);
  advance(9s);
  EXPECT_FALSE(all[0] || all[1]) << "the margin is 1 s and a thousandth of the ttl";
  client other = new_client();
  EXPECT_FALSE(mutex(other, "a").try_acquire());
  EXPECT_TRUE(eventually([&] { return all[1].loss() == loss::expired; }));
}

TEST_F(joint_move_test, a_lost_answer_is_one_move) {
  faults.hang_answer("edit");  // the answer of the grants, so that the fault of the next edit can be set
  auto call = asking();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  faults.lose_answer("edit");
  server->unblock();
  ASSERT_TRUE(is_over(call));
  expect_moved(call.get());
}

// If the ttl counted from a later attempt, a hold would be valid after its lease has expired.
TEST_F(joint_move_test, the_ttl_counts_from_the_try_that_happened) {
  auto call = asking_until_moved();
  const auto moved_at = time.now();
  ASSERT_TRUE(is_over(call)) << "another try finds them moved";
  const auto all = call.get();
  expect_moved(all);
  EXPECT_GT(time.now() - moved_at, 1s);
  for (const auto& one : all) EXPECT_LE(one.remaining(), 60s - (time.now() - moved_at)) << one.name();
  server->unblock();
}

TEST_F(joint_move_test, a_renewal_between_the_move_and_its_answer_reports_no_loss) {
  faults.hang_answer("edit");
  auto call = asking();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  faults.hang_answer("edit");
  server->unblock();
  ASSERT_TRUE(eventually([&] { return stand_on_their_own(); }));
  const auto finds = faults.count("find");
  pass_renewals(db);
  ASSERT_TRUE(soon([&] { return faults.count("find") > finds; }));
  server->unblock();
  ASSERT_TRUE(is_over(call));
  expect_moved(call.get());
  EXPECT_EQ(db.stats().lost, 0U);
}

TEST_F(joint_move_test, a_stop_while_the_move_hangs_leaves_nothing) {
  for (const bool happens : {false, true}) {
    faults.hang_answer("edit");
    std::stop_source stop;
    auto call = asking(stop.get_token());
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    happens ? faults.hang_answer("edit") : faults.hang("edit");
    const auto edits = faults.count("edit");
    server->unblock();
    ASSERT_TRUE(soon([&] { return faults.count("edit") > edits && server->blocked() == 1; }));
    EXPECT_TRUE(eventually([&] { return stand_on_their_own() == happens; }));
    stop.request_stop();
    ASSERT_TRUE(is_over(call));
    EXPECT_FALSE(call.get());
    server->unblock();
    EXPECT_TRUE(nothing_is_left()) << happens;
    // A withdrawal that is still to be sent must not meet the fault of the next round.
    advance(1s);
    virtual_time::let_others_sleep();
  }
}

TEST_F(joint_move_test, a_locked_row_is_waited_for) {
  faults.hang_answer("edit");
  auto call = asking();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  server->lock_row("b");
  const auto edits = faults.count("edit");
  server->unblock();
  ASSERT_TRUE(soon([&] { return faults.count("edit") > edits + 2; }));
  EXPECT_FALSE(stand_on_their_own()) << "all or none";
  server->unlock_row("b");
  ASSERT_TRUE(is_over(call));
  expect_moved(call.get());
}

TEST_F(joint_move_test, one_that_was_taken_away_before_is_acquired_anew) {
  client other = new_client();
  mutex(other, "z").acquire().release();
  faults.hang_answer("edit");
  auto call = asking();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  const auto first = holder_of("a");
  ASSERT_TRUE(admin(other).release("a"));
  server->unblock();
  ASSERT_TRUE(is_over(call));
  expect_moved(call.get());
  EXPECT_NE(holder_of("a"), first);
}

// The first hold then stands on a lease of its own, which lives for the whole ttl.
TEST_F(joint_move_test, one_that_was_taken_away_after_a_lost_answer_is_acquired_anew) {
  client other = new_client();
  mutex(other, "z").acquire().release();
  auto call = asking_until_moved();
  const auto first = lease_of("a");
  const auto moved_at = time.now();
  ASSERT_TRUE(admin(other).release("b"));
  ASSERT_TRUE(is_over(call)) << "another try finds that b is lost";
  EXPECT_LT(time.now() - moved_at, 30s);
  const auto all = call.get();
  expect_moved(all);
  EXPECT_TRUE(soon([&] { return !server->snapshot().leases.contains(first); }));
  server->unblock();
}

TEST_F(joint_move_test, a_close_while_the_move_hangs_leaves_nothing) {
  faults.hang_answer("edit");
  auto call = in_background([&] {
    primitives::access::engine(db)->services().contended.add("a");  // see asking()
    return code_of([&] { std::ignore = acquire_all({a, b}, {.ttl = 60s}); });
  });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  faults.hang_answer("edit");
  const auto edits = faults.count("edit");
  server->unblock();
  ASSERT_TRUE(soon([&] { return faults.count("edit") > edits && server->blocked() == 1; }));
  EXPECT_TRUE(eventually([&] { return stand_on_their_own(); }));
  auto closed = in_background([&] { db.close(); });
  EXPECT_TRUE(eventually([&] { return db.stats().lost == 2; }));
  server->unblock();
  ASSERT_TRUE(soon([&] { return call.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(call.get(), errc::closed);
  ASSERT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
  EXPECT_TRUE(soon([&] { return holder_of("a").empty() && holder_of("b").empty(); }));
}

// The attempts to move, one by one.
class joint_move_tries_test : public parts_test {
 protected:
  joint_move_tries_test() {
    begin();
    from = {held("a"), held("b")};
    moving.emplace(*engine, std::vector{request("a"), request("b")}, from, 60s, 0ms);
  }

  client_layer::hold_ptr held(const std::string& name) {
    auto hold = std::make_shared<client_layer::hold_state>(
        engine, time, model::lock_definition{name}, model::hold_id::random(), 1,
        engine->services().queue.lease(), model::lock_mode::exclusive, 1);
    EXPECT_TRUE(engine->holds().add(hold, engine->holds().check_count()));
    grant(hold);
    return hold;
  }
  // The withdrawn holds by name, each of which stood on a lease of its own.
  std::vector<std::string> withdrawn() {
    std::vector<std::string> names;
    for (const auto& one : submitted().releases) {
      names.push_back(one->name);
      EXPECT_NE(one->lease->id(), engine->services().queue.lease()->id());
    }
    return names;
  }
  void run() { moving->run(*server->open()->connect()); }

  using result = client_layer::joint_move::result;
  static model::lock_request request(const std::string& name) { return {model::lock_definition{name}}; }

  std::vector<client_layer::hold_ptr> from;
  std::optional<client_layer::joint_move> moving;
};

TEST_F(joint_move_tries_test, the_registry_has_the_new_objects_in_place_of_the_old) {
  from[1]->set_contended(true);
  run();
  ASSERT_EQ(moving->outcome(), result::moved);
  EXPECT_THAT(engine->holds().all(), testing::UnorderedElementsAreArray(moving->moved()));
  for (const auto& old : from) EXPECT_FALSE(old->is_valid()) << old->name();
  EXPECT_FALSE(moving->moved()[0]->is_contended());
  EXPECT_TRUE(moving->moved()[1]->is_contended());
}

// If the ids were not in use, a check of all holds could take their holds for orphans.
TEST_F(joint_move_tries_test, its_ids_are_in_use) {
  for (const auto& hold : from) EXPECT_TRUE(queue().ids().contains(hold->id()));
  moving.reset();
  for (const auto& hold : from) EXPECT_FALSE(queue().ids().contains(hold->id()));
}

TEST_F(joint_move_tries_test, what_is_only_found_is_made_durable) {
  server->show_commits_early();
  const auto before = faults->count("make_durable");
  faults->lose_answer("edit");
  EXPECT_THROW(run(), error);
  EXPECT_EQ(faults->count("make_durable"), before);
  run();
  EXPECT_EQ(moving->outcome(), result::moved);
  EXPECT_EQ(faults->count("make_durable"), before + 1);
}

TEST_F(joint_move_tries_test, one_that_is_guarded_keeps_all_where_they_are) {
  ASSERT_TRUE(server->guard("b", from[1]->id()));
  run();
  EXPECT_EQ(moving->outcome(), result::again);
  for (const auto& hold : from) EXPECT_TRUE(hold->is_valid());
  server->unguard("b");
  run();
  EXPECT_EQ(moving->outcome(), result::moved);
}

TEST_F(joint_move_tries_test, one_whose_loss_was_reported_meanwhile_is_not_taken) {
  ASSERT_TRUE(from[1]->lose(loss::forced));
  engine->holds().remove(*from[1]);
  run();
  EXPECT_EQ(moving->outcome(), result::lost);
  ASSERT_EQ(moving->moved().size(), 1U);
  EXPECT_THAT(withdrawn(), testing::ElementsAre("b"));
  const auto moved = moving->moved()[0];
  moving->drop_moved();
  EXPECT_FALSE(moved->is_valid());
  EXPECT_TRUE(engine->holds().empty());
  EXPECT_THAT(withdrawn(), testing::ElementsAre("a"));
}

// They were not given to the caller, so nothing is to rest.
TEST_F(joint_move_tries_test, what_was_moved_and_is_given_back_has_no_minimum_hold_time) {
  moving.emplace(*engine, std::vector{request("a"), request("b")}, from, 60s, 1h);
  run();
  ASSERT_EQ(moving->outcome(), result::moved);
  for (const auto& hold : moving->moved()) EXPECT_GT(hold->keep_until(), time.now() + 59min);
  moving->drop_moved();
  const auto releases = submitted().releases;
  ASSERT_EQ(releases.size(), 2U);
  for (const auto& one : releases) EXPECT_EQ(one->keep_until, client_layer::instant{}) << one->name;
}

TEST_F(joint_move_tries_test, whoever_gives_up_withdraws_all) {
  moving->withdraw();
  for (const auto& hold : from) EXPECT_FALSE(hold->is_valid());
  EXPECT_TRUE(engine->holds().empty());
  EXPECT_THAT(withdrawn(), testing::ElementsAre("a", "b"));
}

TEST_F(joint_move_tries_test, a_locked_row_after_a_lost_answer_does_not_begin_the_ttl_anew) {
  faults->lose_answer("edit");
  EXPECT_THROW(run(), error);
  server->lock_row("b");
  advance(4s);
  run();
  EXPECT_EQ(moving->outcome(), result::again);
  server->unlock_row("b");
  advance(4s);
  run();
  ASSERT_EQ(moving->outcome(), result::moved);
  for (const auto& hold : moving->moved()) EXPECT_LE(hold->remaining(), 60s - 8s) << hold->name();
}

TEST_F(joint_move_tries_test, a_locked_row_before_a_lost_answer_does_not_shorten_the_ttl) {
  server->lock_row("b");
  run();
  EXPECT_EQ(moving->outcome(), result::again);
  server->unlock_row("b");
  advance(8s);
  faults->lose_answer("edit");
  EXPECT_THROW(run(), error);
  run();
  ASSERT_EQ(moving->outcome(), result::moved);
  for (const auto& hold : moving->moved()) EXPECT_GT(hold->remaining(), 60s - 8s) << hold->name();
}

}  // namespace
}  // namespace rowlock::test
