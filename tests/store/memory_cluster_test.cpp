// What the simulator relies on: a node that is behind shows what the seam demands and no more, and another node's
// commits are not overwritten.
#include "memory/memory_server.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace rowlock::store {
namespace {

using where = hold_status::where;

class memory_cluster_test : public testing::Test {
 protected:
  memory_cluster_test() {
    server->make_cluster(2);
    database_ = server->open();
    ahead = database_->connect();
    behind = database_->connect();
    ahead->record_database_state();
    lease.id = lease.client = lease_id::random();
    lease.ttl = std::chrono::minutes{1};
    ahead->create_lease(lease);
    ahead->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
    server->fall_behind(1);
  }

  bool acquire(session& there, const std::string& name, hold_id hold) {
    return !there.acquire(std::vector<acquire_item>{{.name = name, .lease = lease.id, .hold = hold}}).empty();
  }
  bool release(session& there, const std::string& name, hold_id hold) {
    return !there.release(std::vector<release_item>{{name, lease.id, hold}}, durability::durable).empty();
  }
  static where find(session& there, const std::string& name, hold_id hold) {
    return there.find(std::vector<hold_query>{{name, hold}}).at(0).state;
  }
  // Once, on the way of the next verb of that name.
  void meanwhile(std::string_view verb, std::function<void()> what) {
    server->on_call([this, verb, what = std::move(what)](memory_call& call) {
      if (!call.before(verb)) return;
      server->on_call({});
      what();
    });
  }

  std::shared_ptr<memory_server> server = memory_server::create();
  std::unique_ptr<session> ahead;
  std::unique_ptr<session> behind;
  lease_record lease;
  hold_id hold = hold_id::random();

 private:
  std::unique_ptr<database> database_;
};

TEST_F(memory_cluster_test, shows_what_was_committed_before_the_call) {
  ASSERT_TRUE(acquire(*ahead, "a", hold));
  EXPECT_EQ(find(*behind, "a", hold), where::held);
  EXPECT_TRUE(release(*behind, "a", hold));
  EXPECT_EQ(find(*ahead, "a", hold), where::absent);
}

TEST_F(memory_cluster_test, shows_nothing_later) {
  meanwhile("find", [&] { ASSERT_TRUE(acquire(*ahead, "a", hold)); });
  EXPECT_EQ(find(*behind, "a", hold), where::absent);
  server->catch_up(1);
  EXPECT_EQ(find(*behind, "a", hold), where::held);
}

TEST_F(memory_cluster_test, refuses_a_commit_on_a_row_that_another_node_has_changed) {
  const auto other = hold_id::random();
  meanwhile("acquire", [&] { ASSERT_TRUE(acquire(*ahead, "a", hold)); });
  try {
    acquire(*behind, "a", other);
    FAIL() << "two were granted the lock";
  } catch (const error& failure) {
    EXPECT_EQ(failure.code(), errc::contention);
    EXPECT_FALSE(failure.outcome_unknown());
  }
  EXPECT_EQ(find(*ahead, "a", hold), where::held);
  EXPECT_EQ(find(*ahead, "a", other), where::absent);
}

// A name that was deleted is made again, with a token from before.
TEST_F(memory_cluster_test, refuses_to_make_a_lock_that_another_node_has_made_and_deleted) {
  const std::vector<model::lock_definition> made{{"c"}};
  meanwhile("create", [&] {
    ahead->create(made);
    ASSERT_TRUE(acquire(*ahead, "c", hold));
    ASSERT_TRUE(release(*ahead, "c", hold));
    ASSERT_EQ(ahead->collect(std::chrono::milliseconds{0}, 10), 3);
  });
  EXPECT_THROW(behind->create(made), error);
  behind->create(made);
  EXPECT_EQ(find(*ahead, "c", hold), where::absent);
}

TEST_F(memory_cluster_test, keeps_what_another_node_has_changed_elsewhere) {
  const auto other = hold_id::random();
  meanwhile("acquire", [&] { ASSERT_TRUE(acquire(*ahead, "b", other)); });
  EXPECT_TRUE(acquire(*behind, "a", hold));
  EXPECT_EQ(find(*ahead, "a", hold), where::held);
  EXPECT_EQ(find(*ahead, "b", other), where::held);
}

}  // namespace
}  // namespace rowlock::store
