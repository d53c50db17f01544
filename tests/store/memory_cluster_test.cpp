// The cluster on which the simulator relies: a node that is behind shows what the seam demands and no more, and another
// node's commits are not overwritten.
#include "memory/memory_cluster.hpp"
#include "memory/memory_server.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace rowlock::store {
namespace {

using where = hold_status::where;

class memory_cluster_test : public testing::Test {
 protected:
  memory_cluster_test() {
    server->make_cluster(2);
    ahead = connect();
    behind = connect();
    ahead->record_database_state();
    lease.id = lease.client = lease_id::random();
    lease.ttl = std::chrono::minutes{1};
    ahead->create_lease(lease);
    ahead->create(std::vector<model::lock_definition>{{"a"}, {"b"}});
    server->fall_behind(1);
  }

  // Connects to the nodes in turn.
  std::unique_ptr<session> connect() { return opened->connect(); }
  // Connects to the second node, too.
  std::unique_ptr<session> connect_beside() {
    connect();
    return connect();
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
  // Calls `what` once, on the way of the next verb of that name.
  void meanwhile(std::string_view verb, std::function<void()> what) {
    server->on_call([this, verb, what = std::move(what)](memory_call& call) {
      if (!call.before(verb)) return;
      server->on_call({});
      what();
    });
  }

  const std::shared_ptr<memory_server> server = memory_server::create();
  const std::unique_ptr<database> opened = server->open();
  std::unique_ptr<session> ahead;
  std::unique_ptr<session> behind;
  lease_record lease;
  hold_id hold = hold_id::random();
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

// A name that was deleted is made again, with a token from before the deletion.
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

TEST_F(memory_cluster_test, falls_behind_once_until_it_has_caught_up) {
  meanwhile("find", [&] {
    ASSERT_TRUE(acquire(*ahead, "a", hold));
    server->fall_behind(1);
  });
  EXPECT_EQ(find(*behind, "a", hold), where::absent);
}

TEST_F(memory_cluster_test, does_not_go_back_for_a_call_that_was_sent_before) {
  const auto beside = connect_beside();
  meanwhile("find", [&] {
    ASSERT_TRUE(acquire(*ahead, "a", hold));
    EXPECT_EQ(find(*beside, "a", hold), where::held);
  });
  EXPECT_EQ(find(*behind, "a", hold), where::held);
}

TEST_F(memory_cluster_test, shows_its_own_commits_to_a_call_that_was_sent_before) {
  const auto beside = connect_beside();
  meanwhile("find", [&] { ASSERT_TRUE(acquire(*beside, "a", hold)); });
  EXPECT_EQ(find(*behind, "a", hold), where::held);
}

TEST_F(memory_cluster_test, is_up_to_date_after_a_crash) {
  server->crash();
  ahead = connect();
  behind = connect();
  ahead->record_database_state();
  meanwhile("find", [&] { ASSERT_TRUE(acquire(*ahead, "a", hold)); });
  EXPECT_EQ(find(*behind, "a", hold), where::held);
}

bool is_same(const memory_tables& a, const memory_tables& b) {
  const auto rows = [](const memory_tables& t) {
    return std::tie(t.leases, t.locks, t.permits, t.queues, t.history, t.epoch, t.skew, t.token_floor,
                    t.recorded_identity, t.recordings_version);
  };
  const auto has_pattern = [&](const auto& recorded) { return b.recordings.contains(recorded.first); };
  return rows(a) == rows(b) && a.recordings.size() == b.recordings.size() &&
         std::ranges::all_of(a.recordings, has_pattern);
}

// Writes of a transaction to one table.
struct table_write {
  std::string table;
  std::function<void(memory_tables&, int)> make;
  std::function<void(memory_tables&)> undo;
};

class memory_certify_test : public testing::Test {
 protected:
  memory_certify_test() { seen.locks["b"].row.token = 1; }

  static memory_tables with(memory_tables tables, const table_write& write, int value) {
    write.make(tables, value);
    return tables;
  }

  const lease_id lease = lease_id::random();
  const hold_id hold = hold_id::random();
  const std::vector<table_write> of_one_lock{
      {"lock", [](auto& t, int value) { t.locks["a"].row.token = value; },
       [](auto& t) { t.locks.erase("a"); }},
      {"permit", [this](auto& t, int value) { t.permits["a"][hold].granted_at = timestamp{value}; },
       [](auto& t) { t.permits.erase("a"); }},
      {"queue", [](auto& t, int value) { t.queues["a"][1].weight = value; },
       [](auto& t) { t.queues.erase("a"); }},
  };
  const table_write of_lease{"lease", [this](auto& t, int value) { t.leases[lease].notice = value; },
                             [this](auto& t) { t.leases.erase(lease); }};
  const table_write of_history{
      "history", [](auto& t, int value) { t.history["a"][value].happened_at = timestamp{value}; },
      [](auto& t) { t.history.erase("a"); }};
  const std::vector<table_write> of_meta{
      {"epoch", [](auto& t, int value) { t.epoch = value; }, [](auto& t) { t.epoch = 0; }},
      {"skew", [](auto& t, int value) { t.skew = std::chrono::milliseconds{value}; },
       [](auto& t) { t.skew = {}; }},
      {"token_floor", [](auto& t, int value) { t.token_floor = value; }, [](auto& t) { t.token_floor = 0; }},
      {"identity", [](auto& t, int value) { t.recorded_identity = std::to_string(value); },
       [](auto& t) { t.recorded_identity.clear(); }},
      {"recordings",
       [](auto& t, int value) { t.recordings[std::to_string(t.recordings_version = value)] = {}; },
       [](auto& t) {
         t.recordings_version = 0;
         t.recordings.clear();
       }},
  };
  std::vector<table_write> all() const {
    auto writes = of_one_lock;
    writes.insert(writes.end(), of_meta.begin(), of_meta.end());
    writes.push_back(of_lease);
    writes.push_back(of_history);
    return writes;
  }

  memory_tables seen;
};

TEST_F(memory_certify_test, what_was_written_is_applied_and_nothing_else_changes) {
  auto meanwhile = seen;
  meanwhile.locks["b"].row.token = 2;
  for (const auto& write : all()) {
    SCOPED_TRACE(write.table);
    auto latest = meanwhile;
    const auto made = with(seen, write, 1);
    EXPECT_TRUE(certify(seen, made, latest));
    EXPECT_TRUE(is_same(latest, with(meanwhile, write, 1)));
    auto without = made;
    write.undo(without);
    EXPECT_TRUE(certify(made, without, latest));
    auto undone = with(meanwhile, write, 1);
    write.undo(undone);
    EXPECT_TRUE(is_same(latest, undone)) << "rows go, too";
  }
}

TEST_F(memory_certify_test, nothing_is_applied_if_another_has_written_the_same_row) {
  const auto expect_refused = [this](const table_write& mine, const table_write& other) {
    SCOPED_TRACE(mine.table + ", " + other.table);
    const auto before = with(seen, other, 2);
    auto latest = before;
    EXPECT_FALSE(certify(seen, with(seen, mine, 1), latest));
    EXPECT_TRUE(is_same(latest, before));
  };
  for (const auto& mine : of_one_lock) {
    for (const auto& other : of_one_lock) expect_refused(mine, other);
  }
  for (const auto& mine : of_meta) {
    for (const auto& other : of_meta) expect_refused(mine, other);
  }
  expect_refused(of_lease, of_lease);
}

}  // namespace
}  // namespace rowlock::store
