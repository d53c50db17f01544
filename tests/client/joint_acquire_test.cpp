#include "client/call/joint_acquire.hpp"

#include "client/call/joint_call.hpp"

#include "client/client_test.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace rowlock::test
