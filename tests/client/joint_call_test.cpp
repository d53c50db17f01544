#include "client/call/joint_call.hpp"

#include "client/call/async_call.hpp"
#include "client/client_test.hpp"
#include "client/executors.hpp"
#include "primitives/access.hpp"

#include <vector>

namespace rowlock::test {
namespace {

class joint_call_test : public virtual_client_test {
 protected:
  using async_joint_call = client_layer::async_call<client_layer::joint_call>;
  using wait_ptr = std::shared_ptr<async_joint_call>;

  joint_call_test() {
    // Makes the names, and the client's lease.
    for (const auto* name : {"a", "b", "c"}) mutex(db, name).acquire().release();
  }
  ~joint_call_test() override { give_back(); }

  const std::shared_ptr<client_layer::engine>& engine() { return primitives::access::engine(db); }
  wait_ptr made(const std::vector<std::string>& names, const client_layer::wait_limit& how_long = {},
                acquire_options how = {}) {
    std::vector<model::lock_request> wanted;
    for (const auto& name : names) wanted.push_back({{name}});
    // So that the group begins with an edit; acquire_all_test also begins it with the statement for free locks.
    for (const auto& name : names) engine()->services().contended.add(name);
    return std::make_shared<async_joint_call>(
        engine(), by_hand.get(), [this](async_joint_call& over) { go_on(over); }, wanted, how_long,
        std::move(how));
  }
  wait_ptr started(const std::vector<std::string>& names, const client_layer::wait_limit& how_long = {},
                   acquire_options how = {}) {
    auto wait = made(names, how_long, std::move(how));
    wait->start();
    return wait;
  }
  // The request holds "a", and waits for "b", which a rival holds.
  wait_ptr waiting(const client_layer::wait_limit& how_long = {}, acquire_options how = {}) {
    auto wait = started({"a", "b", "c"}, how_long, std::move(how));
    EXPECT_TRUE(eventually([&] { return queued("b") == 1; }));
    EXPECT_NE(holder_of("a"), "");
    return wait;
  }
  void go_on(async_joint_call& over) {
    ++continued;
    failure.reset();
    try {
      taken = over.take();
    } catch (const error& thrown) {
      failure = thrown.kind();
    }
  }
  void expect_over() {
    const auto before = continued;
    ASSERT_TRUE(soon([&] { return by_hand.size() > 0; }));
    by_hand.run_next();
    EXPECT_EQ(continued, before + 1);
    EXPECT_EQ(by_hand.size(), 0U);
  }
  void expect_granted(const std::vector<std::string>& names) {
    expect_over();
    EXPECT_FALSE(failure);
    ASSERT_EQ(taken.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(taken[i]->name(), names[i]);
      EXPECT_EQ(taken[i]->id().to_string(), holder_of(names[i]));
      EXPECT_TRUE(taken[i]->is_valid());
    }
  }
  void give_back() {
    if (!engine()->services().queue.is_stopping()) {
      for (const auto& hold : taken) engine()->releaser().release(*hold);
    }
    taken.clear();
  }
  // Whether nothing of this client is left; the rival may hold "b".
  bool nothing_is_left(std::size_t registered = 0) {
    return soon([&] {
      return holder_of("a").empty() && holder_of("c").empty() &&
             queued("a") + queued("b") + queued("c") == 0 && engine()->holds().size() == registered &&
             (!held || holder_of("b") == held.id().to_string());
    });
  }
  static constexpr client_layer::wait_limit without_waiting{false, {}};

  hand_executor by_hand;
  int continued = 0;
  std::vector<client_layer::hold_ptr> taken;
  std::optional<errc> failure;
  client rival = new_client();
  hold held;
  client db = new_client();
};

TEST_F(joint_call_test, takes_what_is_free_in_one_edit_and_in_the_order_asked) {
  const auto edits = faults.count("edit");
  const auto wait = started({"c", "a", "b"});
  expect_granted({"c", "a", "b"});
  EXPECT_EQ(faults.count("edit"), edits + 1);
}

TEST_F(joint_call_test, waits_for_the_first_that_is_held_and_takes_none_behind_it) {
  held = mutex(rival, "b").acquire();
  const auto wait = waiting();
  EXPECT_EQ(holder_of("c"), "");
  held.release();
  expect_granted({"a", "b", "c"});
}

TEST_F(joint_call_test, without_waiting_takes_all_or_none) {
  held = mutex(rival, "b").acquire();
  const auto wait = started({"a", "b", "c"}, without_waiting);
  expect_over();
  EXPECT_TRUE(taken.empty() && !failure);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, what_cannot_be_right_is_thrown_and_no_continuation_follows) {
  EXPECT_EQ(code_of([&] { started({}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { started({"a", "b", "a"}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { started({"a"}, {}, {.detect_deadlock = true}); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { started({"a"}, {}, {.ttl = 1ms}); }), errc::invalid_argument);
  db.close();
  EXPECT_EQ(code_of([&] { started({"a"}); }), errc::closed);
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(joint_call_test, one_that_was_stopped_before_it_began_sends_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const auto edits = faults.count("edit");
  const auto wait = started({"a", "b"}, {}, {.stop = stop.get_token()});
  expect_over();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_EQ(faults.count("edit"), edits);
}

TEST_F(joint_call_test, its_time_ends_it_and_leaves_nothing) {
  held = mutex(rival, "b").acquire();
  const auto begun = time.now();
  const auto wait = waiting({true, 3s});
  expect_over();
  EXPECT_GE(time.now(), begun + 3s);
  EXPECT_TRUE(taken.empty() && !failure);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, a_stop_ends_it_and_leaves_nothing) {
  held = mutex(rival, "b").acquire();
  std::stop_source stop;
  const auto wait = waiting({}, {.stop = stop.get_token()});
  stop.request_stop();
  expect_over();
  EXPECT_EQ(failure, errc::cancelled);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, abandoned_while_it_waits_it_leaves_nothing_and_never_goes_on) {
  held = mutex(rival, "b").acquire();
  waiting()->abandon();
  EXPECT_TRUE(nothing_is_left());
  EXPECT_EQ(by_hand.size(), 0U);
}

TEST_F(joint_call_test, abandoned_when_it_is_granted_all_are_released) {
  const auto wait = started({"a", "b", "c"});
  ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
  EXPECT_NE(holder_of("c"), "");
  wait->abandon();
  EXPECT_TRUE(nothing_is_left());
  by_hand.run_next();
  EXPECT_EQ(continued, 0);
}

TEST_F(joint_call_test, dropped_by_its_executor_all_are_released) {
  for (const auto min_hold : {0h, 24h}) {
    started({"a", "b", "c"}, {}, {.min_hold = min_hold});
    ASSERT_TRUE(eventually([&] { return by_hand.size() == 1; }));
    by_hand.drop_next();
    EXPECT_TRUE(nothing_is_left()) << "nobody got them, so they do not rest";
  }
  EXPECT_EQ(continued, 0);
}

// An edit hangs, before it happens or after, while its caller is stopped or abandons the request.
TEST_F(joint_call_test, what_is_granted_too_late_is_released) {
  for (const bool happens : {false, true}) {
    for (const bool stops : {false, true}) {
      std::stop_source stop;
      happens ? faults.hang_answer("edit") : faults.hang("edit");
      const auto wait = started({"a", "b"}, {}, {.stop = stop.get_token()});
      ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
      EXPECT_EQ(holder_of("a").empty(), !happens);
      if (stops) {
        stop.request_stop();
        expect_over();
        EXPECT_EQ(failure, errc::cancelled);
      } else {
        wait->abandon();
      }
      const auto edits = faults.count("edit") + faults.count("release");
      server->unblock();
      EXPECT_TRUE(soon([&] { return faults.count("edit") + faults.count("release") > edits; }));
      EXPECT_TRUE(nothing_is_left());
      EXPECT_EQ(by_hand.size(), 0U);
      // A withdrawal that ends late would take away the mark that the next group needs, see made().
      advance(1s);
      virtual_time::let_others_sleep();
    }
  }
}

TEST_F(joint_call_test, a_lost_answer_is_one_grant_each) {
  for (const bool sent : {true, false}) {
    const auto token = server->snapshot().locks.at("a").row.token;
    sent ? faults.lose_answer("edit") : faults.lose_request("edit");
    const auto wait = started({"a", "b"});
    expect_granted({"a", "b"});
    EXPECT_EQ(taken.front()->token(), token + 1);
    give_back();
  }
}

// If the ids were not in use, a check of all holds could take their holds for orphans.
TEST_F(joint_call_test, the_ids_that_it_asks_with_and_looks_for_are_in_use) {
  const auto is_in_use = [&](const std::string& name) {
    return engine()->services().queue.ids().contains(model::hold_id::parse(holder_of(name)));
  };
  for (const bool looks : {false, true}) {
    if (looks) faults.lose_answer("edit");
    looks ? faults.hang("find") : faults.hang_answer("edit");
    const auto wait = started({"a", "b"});
    ASSERT_TRUE(soon([&] { return server->blocked() == 1; }));
    EXPECT_TRUE(is_in_use("a") && is_in_use("b")) << looks;
    server->unblock();
    expect_granted({"a", "b"});
    give_back();
  }
}

TEST_F(joint_call_test, in_doubt_it_is_abandoned_and_leaves_nothing) {
  faults.lose_answer("edit");
  const auto wait = started({"a", "b"});
  ASSERT_TRUE(eventually([&] { return !holder_of("a").empty(); }));
  wait->abandon();
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, waits_through_an_outage_and_a_lost_lease) {
  held = mutex(rival, "b").acquire();
  const auto wait = waiting();
  faults.cut(true);
  advance(40s);
  faults.cut(false);
  held.release();
  expect_granted({"a", "b", "c"});
}

TEST_F(joint_call_test, an_outage_until_its_time_is_up_is_told) {
  faults.cut(true);
  const auto limited = started({"a", "b"}, {true, 10s});
  expect_over();
  EXPECT_EQ(failure, errc::unreachable);
  const auto attempt = started({"a", "b"}, without_waiting);
  expect_over();
  EXPECT_EQ(failure, errc::unreachable);
  faults.cut(false);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, a_row_that_is_locked_is_waited_for) {
  server->lock_row("b");
  const auto edits = faults.count("edit");
  const auto wait = started({"a", "b"});
  ASSERT_TRUE(soon([&] { return faults.count("edit") > edits + 2; }));
  EXPECT_EQ(by_hand.size(), 0U);
  server->unlock_row("b");
  expect_granted({"a", "b"});
}

TEST_F(joint_call_test, releases_what_it_has_when_it_cannot_go_on) {
  held = mutex(rival, "b").acquire();
  const auto wait = waiting();
  server->delete_lock("c");
  counting_semaphore(rival, "c", 2).acquire().release();
  held.release();
  expect_over();
  EXPECT_EQ(failure, errc::mismatch);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, a_hold_that_was_taken_away_meanwhile_is_acquired_anew) {
  held = mutex(rival, "b").acquire();
  const auto wait = waiting();
  const auto first = holder_of("a");
  ASSERT_TRUE(admin{rival}.release("a"));
  ASSERT_TRUE(soon([&] { return engine()->holds().empty(); }));
  held.release();
  expect_granted({"a", "b", "c"});
  EXPECT_NE(holder_of("a"), first);
}

TEST_F(joint_call_test, with_a_ttl_all_move_to_leases_of_their_own) {
  const auto edits = faults.count("edit");
  const auto wait = started({"a", "b"}, {}, {.ttl = 60s});
  expect_granted({"a", "b"});
  EXPECT_EQ(faults.count("edit"), edits + 2);
  EXPECT_NE(taken[0]->lease(), taken[1]->lease());
  give_back();
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, abandoned_while_the_move_hangs_it_leaves_nothing) {
  for (const bool happens : {false, true}) {
    faults.hang_answer("edit");
    const auto wait = started({"a", "b"}, {}, {.ttl = 60s});
    ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
    happens ? faults.hang_answer("edit") : faults.hang("edit");
    const auto edits = faults.count("edit");
    server->unblock();
    ASSERT_TRUE(soon([&] { return faults.count("edit") > edits && server->blocked() == 1; }));
    wait->abandon();
    server->unblock();
    EXPECT_TRUE(nothing_is_left()) << happens;
    EXPECT_TRUE(soon([&] { return leases() == 1; })) << "the client's";
  }
}

TEST_F(joint_call_test, a_client_that_closes_ends_it_and_leaves_nothing) {
  held = mutex(rival, "b").acquire();
  const auto wait = waiting();
  db.close();
  expect_over();
  EXPECT_EQ(failure, errc::closed);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(joint_call_test, is_told_of_the_close_also_when_the_database_hangs) {
  db = new_impatient_client();
  faults.hang_answer("edit");
  const auto wait = started({"a", "b"});
  close_while_the_database_hangs(db, [&] { return by_hand.size() == 1; });
  by_hand.run_next();
  EXPECT_EQ(failure, errc::closed);
}

}  // namespace
}  // namespace rowlock::test
