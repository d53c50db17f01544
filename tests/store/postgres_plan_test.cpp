// Statements are planned without their values (plan_cache_mode), and again after each ANALYZE, which the
// server runs by itself. What a plan computes in advance must not fail, whatever was asked before.
#include "contract/decisions.hpp"
#include "store/postgres_test.hpp"

#include <functional>
#include <regex>
#include <set>
#include <string>
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
  const auto use_of_many = [&](std::vector<store::acquire_item> wanted) {
    std::vector<store::release_item> held;
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
        const store::release_item given{"a", lease, holder.hold};
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
        const auto say = [](const store::lock_view&) {
          store::lock_change change;
          change.value = "7 x";
          change.data = {{hold_id::random(), "x"}};
          return change;
        };
        const store::edit_request said[] = {{"a", hold_id::random(), say, true}};
        EXPECT_EQ(session->edit(said).front(), store::edit_result::committed);
      },
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
        EXPECT_TRUE(session->find_stale(10, 0us).leases.empty());
        EXPECT_EQ(session->collect(1h, 10), 0);
        session->send_wakeups(std::vector<store::wakeup>{{gone[0]}});
        session->record_database_state();
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

// Statements that are planned while the tables are empty, as a client's first statements are, and run when they are
// full.
class postgres_growth_test : public postgres_plan_test {
 protected:
  static constexpr int many = 1000;

  void SetUp() override {
    postgres_plan_test::SetUp();
    if (IsSkipped()) return;
    ready();
    side_->run("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; SET jit = off");
    side_->run(
        "SELECT set_config('rowlock.system', "
        "                  (SELECT system_identifier::text FROM pg_control_system()), false)");
  }

  // A mutex that is held and has many waiters, a semaphore with as many holders and waiters, and other locks.
  void fill() {
    const auto rows = " FROM generate_series(1, " + std::to_string(many) + ") AS i";
    side_->run(
        "INSERT INTO rowlock_lease (id, client_id, pid, ttl_ms, expires_at, host, application) "
        "SELECT " +
        id(1) + ", " + id(1) + ", 1, 30000, clock_timestamp() + interval '1 hour', 'h', 'a'" + rows);
    side_->run(
        "INSERT INTO rowlock_lock (name, kind, capacity, in_use, next_ticket, lease_id, hold_id, has_queue) "
        "VALUES ('m', 'mutex', 1, 1, 2000, gen_random_uuid(), gen_random_uuid(), true), "
        "('s', 'semaphore', 1000, 1000, 2000, NULL, NULL, true)");
    side_->run("INSERT INTO rowlock_lock (name, kind, capacity) SELECT 'n' || i, 'mutex', 1" + rows);
    for (const std::string name : {"'m'", "'s'"}) {
      side_->run("INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) SELECT " + name + ", i, " +
                 id(2) + ", " + id(1) + rows);
    }
    side_->run("INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token) SELECT 's', " + id(3) +
               ", " + id(1) + ", 1, i" + rows);
  }

  // The i-th id of a kind, in SQL.
  static std::string id(int kind) {
    return "('" + std::to_string(kind) + "0000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid";
  }
  // An array of that expression over i.
  static std::string all(const std::string& each) {
    return "(SELECT array_agg(" + each + ") FROM generate_series(1, " + std::to_string(many) + ") AS i)";
  }

  // EXECUTE takes no sub-queries, so their values are inserted as text. blank: an empty array instead.
  std::string parameters(const std::vector<std::string>& arguments, bool blank) {
    std::string text;
    for (const auto& one : arguments) {
      const bool is_array = one.front() == '(';
      text += text.empty() ? "(" : ", ";
      text += !is_array ? one : blank ? "'{}'" : "'" + side_->value("SELECT " + one + "::text") + "'";
    }
    return text + ")";
  }

  raw_postgres::rows run_in_transaction(const std::string& sql, const std::string& held) {
    side_->run("BEGIN");
    for (const auto* setting : {"rows", "replaceable"}) {
      side_->run("SELECT set_config('rowlock." + std::string{setting} + "', '" + held + "', true)");
    }
    side_->run("SELECT set_config('rowlock.loose', '{}', true), set_config('rowlock.handed', '', true)");
    auto result = side_->run(sql);
    side_->run("ROLLBACK");
    return result;
  }

  // How many rows the steps of the statement touched, including those that a step discarded.
  double rows_met(const std::string& query, const std::vector<std::string>& arguments) {
    // From version 18 on the server prints decimals.
    static const std::regex step{R"(rows=(\d+(?:\.\d+)?) loops=(\d+))"};
    static const std::regex thrown_away{R"(Rows Removed by [A-Za-z ]+: (\d+))"};
    double sum = 0;
    double loops = 1;
    int steps = 0;
    plan_.clear();
    const auto sql = "EXPLAIN (ANALYZE, TIMING OFF) EXECUTE " + query + parameters(arguments, false);
    for (const auto& line : run_in_transaction(sql, "{m,s}")) {
      plan_ += line[0] + '\n';
      std::smatch found;
      if (std::regex_search(line[0], found, step)) {
        ++steps;
        loops = std::stod(found[2]);
        sum += std::stod(found[1]) * loops;
      } else if (std::regex_search(line[0], found, thrown_away)) {
        sum += std::stod(found[1]) * loops;
      }
    }
    EXPECT_GT(steps, 0) << plan_;
    return sum;
  }

  std::string plan_;
};

// No waiter has a ticket before the head; the rows of former waiters may still be in the table.
TEST_F(postgres_growth_test, reads_a_queue_from_its_head_on) {
  fill();
  const auto session = connect();
  side_->run("UPDATE rowlock_lock SET head_ticket = 501 WHERE name = 'm'");
  EXPECT_EQ(session->queue("m").front().waiter.ticket, 501);
  EXPECT_EQ(session->show("m")->waiters, many - 500);
  std::int64_t first = 0;
  edit(*session, "m", [&](const store::lock_view& view) {
    first = view.queue.front().waiter.ticket;
    return store::lock_change{};
  });
  EXPECT_EQ(first, 501);
}

// An edit reads only a limited part of the queue.
TEST_F(postgres_growth_test, a_release_meets_few_rows_however_many_permits_are_held) {
  const std::string hold = "30000000-0000-0000-0000-000000000500";
  const auto reads = [&](const std::string& permits_of) {
    return std::vector<std::string>{"'{s}'", "'{" + hold + "}'", permits_of, "'{0}'"};
  };
  side_->run("PREPARE edit_read AS " + postgres_query("edit_read", options_.prefix));
  run_in_transaction("EXPLAIN EXECUTE edit_read" + parameters(reads("'{NULL}'"), true), "{}");
  fill();
  const auto met = rows_met("edit_read", reads("'{\"{" + hold + "}\"}'"));
  EXPECT_LT(met, many) << plan_;
  EXPECT_GT(rows_met("edit_read", reads("'{NULL}'")), met + many) << plan_;
}

TEST_F(postgres_growth_test, meets_few_rows_for_each_that_it_is_about) {
  struct statement {
    std::string name;
    std::vector<std::string> arguments;
  };
  const auto waiters = all(id(2));
  const auto holders = all(id(3));
  const std::vector<statement> statements{
      {"find", {all("'m'::text"), waiters}},
      {"find", {all("'s'::text"), waiters}},
      {"find", {all("'s'::text"), holders}},
      {"find_one", {"'m'", "'20000000-0000-0000-0000-000000000500'"}},
      {"edit_read", {"'{m}'", "'{20000000-0000-0000-0000-000000000500}'", "'{NULL}'", "'{0}'"}},
      {"edit_read",
       {"'{m,s}'", "'{20000000-0000-0000-0000-000000000500,20000000-0000-0000-0000-000000000500}'",
        "'{NULL,NULL}'", "'{0,0}'"}},
      {"edit_read",
       {"'{s}'", "'{NULL}'",
        "(SELECT array[array_agg(" + id(3) + ")::text] FROM generate_series(1, " + std::to_string(many) +
            ") AS i)",
        "'{1}'"}},
      {"edit_guard_permit", {"'{30000000-0000-0000-0000-000000000500}'"}},
      {"edit_read_data", {"'s'", "'30000000-0000-0000-0000-000000000500'"}},
      {"edit_write_data", {"'s'", "'30000000-0000-0000-0000-000000000500'", "'x'"}},
      {"edit_dequeue", {all("'m'::text"), waiters}},
      {"edit_remove_permits", {all("'s'::text"), holders}},
      {"release_shared", {all("'s'::text"), all(id(1)), holders, "'off'"}},
      {"release_shared_ending", {all("'s'::text"), all(id(1)), holders, "'off'", all(id(1))}},
      {"release_shared_one",
       {"'s'", "'10000000-0000-0000-0000-000000000500'", "'30000000-0000-0000-0000-000000000500'", "'off'"}},
      {"acquire",
       {all("'n' || i"), all("'mutex'::text"), all("1::bigint"), all(id(1)), all(id(2)), all("true")}},
      {"acquire_all_take", {all("'n' || i"), all("'mutex'::text"), all("1::bigint"), all("true")}},
      {"release", {all("'n' || i"), all(id(1)), all(id(2)), "'off'"}},
      {"release_ending", {all("'n' || i"), all(id(1)), all(id(2)), "'off'", all(id(1))}},
      {"queue", {"'m'"}},
      {"find_stale_names", {"''", "1000"}},
      {"hand_over_dequeue", {"'m'", "'20000000-0000-0000-0000-000000000500'"}},
  };
  std::set<std::string> planned;
  for (const auto& one : statements) {
    if (!planned.insert(one.name).second) continue;
    side_->run("PREPARE " + one.name + " AS " + postgres_query(one.name, options_.prefix));
    run_in_transaction("EXPLAIN EXECUTE " + one.name + parameters(one.arguments, true), "{}");
  }
  fill();
  for (const auto& one : statements) {
    SCOPED_TRACE(one.name + " of " + one.arguments[0]);
    EXPECT_LT(rows_met(one.name, one.arguments), 40 * many) << plan_;
  }
}

}  // namespace
}  // namespace rowlock::test
