// Runs the examples of docs/guide.md, on every SQL store where they name none.
#include "guide/acquire_all.cpp"
#include "guide/async.cpp"
#include "guide/barrier.cpp"
#include "guide/connect.cpp"
#include "guide/counting_semaphore.cpp"
#include "guide/election.cpp"
#include "guide/latch.cpp"
#include "guide/mutex.cpp"
#include "guide/quorum_mutex.cpp"
#include "guide/recursive_mutex.cpp"
#include "guide/shared_mutex.cpp"

#ifdef ROWLOCK_TEST_POSTGRES
#include "guide/guarded_write_pqxx.cpp"
#endif
#ifdef ROWLOCK_TEST_SQLITE
#include "guide/guarded_write_sqlite3.cpp"
#endif

#include "cli/cli_test.hpp"
#include "client/executors.hpp"
#include "docs/document.hpp"
#include "docs/shell.hpp"
#include "support/temporary_folder.hpp"

#include <future>

namespace rowlock::test {
namespace {

using testing::HasSubstr;

bool is_refused(const std::function<void()>& write) {
  try {
    write();
  } catch (const error& refusal) {
    return refusal.code() == errc::hold_lost;
  }
  return false;
}

class example_test : public cli_test {
 protected:
  client new_client() const { return new_client(*store); }
  static client new_client(store_fixture& on) {
    options settings;
    settings.prefix = on.options().prefix;
    settings.renew_interval = 500ms;
    settings.close_timeout = 20s;
    return connect(on.url(), settings);
  }
  std::unique_ptr<command_process> start_nightly(const words& command) {
    return start_script("nightly.sh", command);
  }
  std::unique_ptr<command_process> start_script(const std::string& name, const words& command) {
    words line{"sh", source_path("examples/guide/" + name)};
    line.insert(line.end(), command.begin(), command.end());
    return start_with_rowlock_in_path(line, environment());
  }

  client db = new_client();
  client other = new_client();
};

TEST_P(example_test, mutex_builds_the_report_once) {
  std::vector<fencing_token> tokens;
  const auto step = [&](fencing_token token) { tokens.push_back(token); };
  EXPECT_TRUE(build_report(db, 0ms, {step, step}));
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0], tokens[1]);
  const auto held = mutex(other, "reports/nightly").acquire();
  EXPECT_GT(held.token(), tokens[0]);
  EXPECT_FALSE(build_report(db, 50ms, {step}));
  EXPECT_EQ(tokens.size(), 2U) << "another one is at it";
}

TEST_P(example_test, mutex_stops_when_the_lock_is_lost) {
  const auto lose = [&](fencing_token) {
    ASSERT_TRUE(admin{other}.release("reports/nightly"));
    eventually("the holder knows", [&] { return db.stats().lost == 1; });
  };
  const auto never = [](fencing_token) { ADD_FAILURE() << "the lock was lost before"; };
  EXPECT_FALSE(build_report(db, 0ms, {lose, never}));
}

TEST_P(example_test, recursive_mutex_asks_the_database_once) {
  recursive_mutex stock{db, "stock"};
  int count = 10;
  exchange(stock, count, 3, 5);
  EXPECT_EQ(count, 12);
  EXPECT_EQ(db.stats().acquired, 1U);
  EXPECT_TRUE(mutex(other, "stock").try_acquire_for(20s));
}

TEST_P(example_test, shared_mutex_rebuilds_alone_and_reads_beside_others) {
  shared_mutex elsewhere{other, "catalog"};
  bool old = true;
  int rebuilt = 0;
  const auto rebuild = [&] {
    EXPECT_FALSE(elsewhere.try_acquire_shared());
    old = false;
    ++rebuilt;
  };
  const auto read = [&] {
    EXPECT_TRUE(elsewhere.try_acquire_shared());
    EXPECT_FALSE(elsewhere.try_acquire());
    return std::string{"catalog"};
  };
  const auto is_old = [&] { return old; };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read_catalog(db, is_old, rebuild, read), "catalog");
  EXPECT_EQ(rebuilt, 1);
}

TEST_P(example_test, counting_semaphore_waits_for_its_turn) {
  counting_semaphore cluster{other, "gpus", 8};
  auto held = std::make_optional(cluster.acquire(6));
  std::promise<std::int64_t> left;
  auto training = std::async(std::launch::async, [&] {
    train(db, 3, [&](const std::stop_token& lost) {
      EXPECT_TRUE(lost.stop_possible());
      left.set_value(cluster.available());
    });
  });
  eventually("it waits for its turn", [&] { return admin{other}.queue("gpus").size() == 1; });
  held.reset();
  EXPECT_EQ(left.get_future().get(), 5);
  training.get();
  EXPECT_EQ(cluster.available(), 8);
}

TEST_P(example_test, acquire_all_moves_between_two_accounts_in_either_direction) {
  std::vector<fencing_token> moved;
  const auto note = [&](fencing_token from, fencing_token to) {
    EXPECT_FALSE(mutex(other, "account/1").try_acquire());
    EXPECT_FALSE(shared_mutex(other, "rates").try_acquire());
    EXPECT_TRUE(shared_mutex(other, "rates").try_acquire_shared());
    moved.insert(moved.end(), {from, to});
  };
  EXPECT_TRUE(transfer(db, "1", "2", 20s, note));
  EXPECT_TRUE(transfer(db, "2", "1", 20s, note));
  ASSERT_EQ(moved.size(), 4U);
  EXPECT_GT(moved[3], moved[0]) << "account 1 comes second now";
  EXPECT_GT(moved[2], moved[1]);
  const auto held = mutex(other, "account/2").acquire();
  EXPECT_FALSE(transfer(db, "1", "2", 50ms, note));
  EXPECT_EQ(moved.size(), 4U);
}

TEST_P(example_test, latch_tells_when_all_shards_have_loaded) {
  const auto load = [&] { EXPECT_FALSE(all_are_loaded(other, "v42", 2, 0ms)); };
  load_shard(db, "v42", 2, load);
  auto ready = std::async(std::launch::async, [&] { return all_are_loaded(other, "v42", 2, 1h); });
  eventually("the router waits", [&] { return admin{other}.queue("v42/loaded").size() == 1; });
  load_shard(db, "v42", 2, load);
  EXPECT_TRUE(ready.get());
}

TEST_P(example_test, barrier_imports_when_all_are_here_and_returns_when_all_are_done) {
  std::atomic<int> here{0};
  std::atomic<int> done{0};
  const auto import = [&](const client& by) {
    ++here;
    const bool complete = import_together(by, 2, 60s, [&] {
      EXPECT_EQ(here, 2);
      ++done;
    });
    EXPECT_EQ(done, 2);
    return complete;
  };
  auto first = std::async(std::launch::async, [&] { return import(other); });
  EXPECT_TRUE(import(db));
  EXPECT_TRUE(first.get());
}

TEST_P(example_test, barrier_imports_nothing_when_one_does_not_come) {
  const auto never = [] { ADD_FAILURE() << "one of three is missing"; };
  auto first = std::async(std::launch::async, [&] { return import_together(other, 3, 1h, never); });
  eventually("it waits", [&] { return barrier(db, "import/phase", 3).waiting() == 1; });
  EXPECT_FALSE(import_together(db, 3, 50ms, never));
  EXPECT_FALSE(first.get()) << "it was told";
}

TEST_P(example_test, election_tells_where_the_leader_is) {
  EXPECT_EQ(leader(other), std::nullopt);
  const auto schedule = [&](fencing_token token, const std::stop_token& lost) {
    EXPECT_EQ(election(other, "scheduler").observe().token, token);
    EXPECT_EQ(leader(other), "10.0.0.7:8080");
    EXPECT_FALSE(lead(other, "10.0.0.8:8080", 50ms, {}));
    ASSERT_TRUE(admin{other}.release("scheduler"));
    eventually("the leader knows", [&] { return lost.stop_requested(); });
  };
  EXPECT_TRUE(lead(db, "10.0.0.7:8080", 20s, schedule));
  EXPECT_EQ(leader(other), std::nullopt);
}

TEST_P(example_test, quorum_mutex_runs_at_one_site_while_two_databases_are_there) {
  const auto second = make_store_fixture(GetParam());
  const auto third = make_store_fixture(GetParam());
  const auto site = [&] { return std::vector{new_client(), new_client(*second), new_client(*third)}; };
  const auto all = site();
  const auto elsewhere = site();
  fencing_token before;
  const auto job = [&](fencing_token token, const std::stop_token& lost) {
    EXPECT_TRUE(lost.stop_possible());
    EXPECT_GT(token, before);
    before = token;
    EXPECT_FALSE(run_at_one_site(elsewhere, 50ms, {}));
  };
  EXPECT_TRUE(run_at_one_site(all, 60s, job));
  EXPECT_TRUE(run_at_one_site({all[1], all[2]}, 60s, job)) << "one was down at the start";
}

TEST_P(example_test, async_rebuilds_in_turn_and_without_a_thread_that_waits) {
  hand_executor pool;
  const auto run_one = [&] {
    eventually("the pool is asked", [&] { return pool.size() > 0; });
    pool.run_next();
  };
  const mutex index{db, "index"};
  std::vector<fencing_token> tokens;
  const auto work = [&](const rowlock::hold& granted) { tokens.push_back(granted.token()); };
  std::vector<errc> refusals;
  const auto failed = [&](const error& refusal) { refusals.push_back(refusal.kind()); };
  // On SQLite the first transaction of each session raises the next tokens.
  for (const client& one : {db, other}) mutex(one, "first").acquire().release();
  auto held = std::make_optional(mutex(other, "index").acquire());
  for (int i = 0; i < 3; ++i) rebuild(pool.get(), index, work, failed);
  eventually("they wait", [&] { return admin{other}.queue("index").size() == 3; });
  rebuild_if_free(pool.get(), index, work);
  run_one();
  EXPECT_TRUE(tokens.empty()) << "somebody is at it";
  const auto before = held->token().value();
  held.reset();
  for (int i = 0; i < 3; ++i) run_one();
  EXPECT_EQ(tokens,
            (std::vector{fencing_token{before + 1}, fencing_token{before + 2}, fencing_token{before + 3}}));
  rebuild_if_free(pool.get(), index, work);
  run_one();
  EXPECT_EQ(tokens.size(), 4U);
  db.close();
  rebuild(pool.get(), index, work, failed);
  EXPECT_EQ(refusals, std::vector{errc::closed});
}

// guide/nightly.sh
TEST_P(example_test, nightly_runs_on_one_machine) {
  const auto done = start_nightly({"sh", "-c", "echo token $ROWLOCK_TOKEN; exit 3"})->wait();
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.out, testing::MatchesRegex("token [0-9]+\n"));
  const auto held = mutex(other, "reports/nightly").acquire();
  const auto busy = start_nightly({"echo", "done"})->wait();
  EXPECT_EQ(busy.exit_code, 0);
  EXPECT_EQ(busy.out, "another machine is at it\n");
}

TEST_P(example_test, nightly_says_that_the_lock_was_lost) {
  auto nightly = start_nightly({"sh", "-c", "echo ready; exec sleep 600"});
  EXPECT_EQ(nightly->read_line(), "ready");
  ASSERT_TRUE(admin{other}.release("reports/nightly"));
  const auto lost = nightly->wait();
  EXPECT_EQ(lost.exit_code, 76);
  EXPECT_THAT(lost.err, HasSubstr("look at what it wrote"));
}

// guide/deploy.sh
TEST_P(example_test, deploy_holds_the_lock_for_both_steps) {
  const auto done = start_script("deploy.sh", {"true", "false"})->wait();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(mutex(other, "deploy").try_acquire()) << "it was released";
  auto first = start_script("deploy.sh", {"cat", "true"});
  eventually("the script holds it", [&] { return !mutex(other, "deploy").try_acquire(); });
  ASSERT_TRUE(admin{other}.release("deploy"));
  EXPECT_EQ(first->wait().exit_code, 76) << "the second step did not run";
}

ROWLOCK_FOR_EACH_SQL_STORE(example_test);

#ifdef ROWLOCK_TEST_POSTGRES
class postgres_example_test : public example_test {};

TEST_P(postgres_example_test, guarded_write_pqxx_writes_only_while_it_holds) {
  pqxx::connection app{store->url()};
  const auto balance = [&] {
    pqxx::work transaction{app};
    return transaction.exec("SELECT balance FROM account")[0][0].as<int>();
  };
  {
    pqxx::work setup{app};
    setup.exec("CREATE TEMPORARY TABLE account (balance integer NOT NULL)");
    setup.exec("INSERT INTO account VALUES (100)");
    setup.commit();
  }
  const auto held = mutex(db, "account/1").acquire();
  withdraw(app, held, 30);
  EXPECT_EQ(balance(), 70);
  ASSERT_TRUE(admin{other}.release("account/1"));
  EXPECT_TRUE(is_refused([&] { withdraw(app, held, 30); }));
  EXPECT_EQ(balance(), 70);
}

// Without PostgreSQL among the stores of the run, the suite has no tests.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(postgres_example_test);
INSTANTIATE_TEST_SUITE_P(stores, postgres_example_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);
#endif

#ifdef ROWLOCK_TEST_SQLITE
class sqlite_example_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "sqlite is not selected";
  }

  const temporary_folder folder;
  const std::string file = folder.path() / "locks.db";
  const std::string url = "sqlite:" + file;
};

TEST_F(sqlite_example_test, connect_needs_the_migrations_and_names_the_application) {
  EXPECT_THROW(static_cast<void>(connect_to_locks(url)), error);
  migrator{url}.up();
  const auto db = connect_to_locks(url);
  const auto held = mutex(db, "a").acquire();
  EXPECT_LE(held.remaining(), 10s);
  EXPECT_EQ(admin{db}.show("a")->holders.at(0).application, "billing");
}

TEST_F(sqlite_example_test, guarded_write_sqlite3_writes_only_while_it_holds) {
  migrator{url}.up();
  const auto db = connect(url);
  const auto held = mutex(db, "account/1").acquire();
  sqlite3* app = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &app), SQLITE_OK);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> owner{app, &sqlite3_close};
  sqlite3_busy_timeout(app, 10'000);
  const auto balance = [&] {
    int value = 0;
    const auto take = [](void* to, int, char** texts, char**) {
      *static_cast<int*>(to) = std::stoi(texts[0]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(app, "SELECT balance FROM account", take, &value, nullptr), SQLITE_OK);
    return value;
  };
  ::run(app, "CREATE TEMPORARY TABLE account (balance INTEGER NOT NULL)");
  ::run(app, "INSERT INTO account VALUES (100)");
  withdraw(app, held, 30);
  EXPECT_EQ(balance(), 70);
  ASSERT_TRUE(admin{db}.release("account/1"));
  EXPECT_TRUE(is_refused([&] { withdraw(app, held, 30); }));
  EXPECT_EQ(balance(), 70);
}
#endif

}  // namespace
}  // namespace rowlock::test
