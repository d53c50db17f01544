// The client of examples/python keeps the contract of docs/sql-protocol.md beside C++ clients: exclusion, rising tokens,
// the order of the queue, and the guard, while processes of either kind are killed.
#include "crew.hpp"
#include "process_test.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/migrate.hpp>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <random>
#include <thread>

namespace rowlock::test {

namespace {

class python_client_test : public process_test {
 protected:
  static worker_settings in_python(worker_settings made) {
    // scripts/setup installs the drivers for this interpreter; another one in the PATH may lack them.
    made.program = {"/usr/bin/python3", "-B", ROWLOCK_PYTHON_WORKER_PATH};
    return made;
  }
  // With a short ttl, for loads whose processes are killed.
  worker_settings mortal() const {
    auto made = patient();
    made.ttl = 1'000ms;
    return made;
  }
  // With a ttl that no busy machine exceeds.
  worker_settings patient() const {
    auto made = settings();
    made.ttl = 30'000ms;
    made.close_timeout = 30s;
    return made;
  }
  worker start_python() const { return worker{in_python(patient())}; }
  // A C++ client of this process.
  client start_operators() const {
    options how;
    how.prefix = prefix();
    return connect(settings().url, how);
  }

  // A client that works on a new database records its server; the example does not.
  void SetUp() override {
    process_test::SetUp();
    auto first = start();
    ASSERT_EQ(first.ask("sweep"), "swept");
    first.finish();
  }
};

TEST_P(python_client_test, counts_exactly_and_keeps_the_queue_beside_cpp_clients) {
  book().create({"counter"});
  book().note_tickets();
  crew ours{patient(), "load unguarded 2 8 counter", 2};
  crew theirs{in_python(patient()), "load unguarded 1 10 counter", 3};
  const auto python = theirs.join();
  const auto cpp = ours.join();
  EXPECT_EQ(python.at("written"), 3 * 10);
  EXPECT_EQ(cpp.at("written"), 2 * 2 * 8);
  EXPECT_EQ(
      python.at("lost") + python.at("unreleased") + cpp.at("lost") + cpp.at("unreleased") + cpp.at("pending"),
      0);
  const auto found = book().check();
  EXPECT_EQ(found.counted, 3 * 10 + 2 * 2 * 8);
  EXPECT_EQ(found.logged, found.counted);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.ticket_faults, 0);
  EXPECT_GT(found.queued, found.logged / 3);
}

TEST_P(python_client_test, keeps_the_counter_exact_while_either_side_is_killed) {
  const std::vector<std::string> names{"name/0", "name/1", "name/2", "name/3"};
  std::string load;
  for (const auto& name : names) load += ' ' + name;
  book().create(names);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random{seed};
  crew ours{mortal(), "load guarded 2 0" + load, 2};
  crew theirs{in_python(mortal()), "load guarded 1 0" + load, 2};
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 600});
    (random() % 2 == 0 ? ours : theirs).kill_one(random);
  }
  EXPECT_EQ(theirs.halt().at("unaware"), 0);
  EXPECT_EQ(ours.halt().at("unaware"), 0);
  auto survivor = start_python();
  for (const auto& name : names) {
    EXPECT_TRUE(survivor.ask("try_for " + name + " 10000").starts_with("granted ")) << name;
  }
  survivor.finish();
  const auto found = book().check();
  EXPECT_GT(found.logged, 10);
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE in_use <> 0 AND hold_id IS NULL"), 0);
}

TEST_P(python_client_test, is_refused_by_its_guard_when_it_was_stopped_for_longer_than_its_ttl) {
  auto brief = in_python(patient());
  brief.ttl = 4s;
  auto next = start();
  worker stopped{brief};
  const auto first = stopped.acquire("nightly");
  EXPECT_EQ(stopped.ask("stop_before_guard"), "stopping");
  until_stopped(stopped.pid());
  EXPECT_GT(next.acquire("nightly").token, first.token);
  stopped.go_on();
  EXPECT_EQ(stopped.answer(), "refused");
  EXPECT_EQ(stopped.ask("state"), "invalid");
}

TEST_P(python_client_test, takes_the_lock_of_a_stopped_cpp_client_whose_guard_then_refuses) {
  auto stopped = start();
  auto next = start_python();
  const auto first = stopped.acquire("nightly");
  EXPECT_EQ(stopped.ask("stop_before_guard"), "stopping");
  until_stopped(stopped.pid());
  expire_lease_of(stopped);
  EXPECT_GT(next.acquire("nightly").token, first.token);
  stopped.go_on();
  EXPECT_EQ(stopped.answer(), "refused");
}

TEST_P(python_client_test, hands_over_to_the_first_waiter_and_gives_up_its_place) {
  auto holder = start_python();
  auto first = start();
  auto second = start_python();
  holder.acquire("nightly");
  EXPECT_EQ(first.ask("try nightly"), "busy");
  EXPECT_EQ(second.ask("try nightly"), "busy");
  EXPECT_EQ(second.ask("try_for nightly 50"), "busy");
  EXPECT_EQ(queued(), 0);
  first.tell("acquire nightly");
  until_queued(1);
  second.tell("acquire nightly");
  until_queued(2);
  EXPECT_EQ(holder.ask("release"), "released");
  first.grant(slack);
  EXPECT_TRUE(second.is_silent());
  EXPECT_EQ(first.ask("release"), "released");
  second.grant(slack);
  EXPECT_EQ(second.ask("release"), "released");
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE in_use <> 0"), 0);
}

TEST_P(python_client_test, learns_of_release_requests_and_forced_releases) {
  const client operators = start_operators();
  auto holder = start_python();
  holder.acquire("nightly");
  EXPECT_EQ(holder.ask("renew"), "renewed");
  EXPECT_EQ(admin{operators}.request_release("nightly", {.reason = "maintenance", .within = 0s}),
            release_request_result::kept);
  EXPECT_EQ(holder.ask("renew"), "requested");
  EXPECT_TRUE(admin{operators}.release("nightly"));
  EXPECT_EQ(holder.ask("renew"), "lost");
}

TEST_P(python_client_test, a_forced_release_waits_for_its_guarded_transaction) {
  book().create({"nightly"});
  const client operators = start_operators();
  auto holder = start_python();
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("begin_guarded"), "guarded");
  try {
    admin{operators}.release("nightly");
    ADD_FAILURE() << "the lock was taken from a guarded transaction";
  } catch (const error& refusal) {
    EXPECT_EQ(refusal.code(), errc::contention) << refusal.what();
    EXPECT_TRUE(refusal.outcome_unknown()) << "it happens later";
  }
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL"), 1);
  EXPECT_EQ(holder.ask("end_guarded"), "written");
  until("the lock is released",
        [&] { return number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") == 0; });
  EXPECT_EQ(holder.ask("begin_guarded"), "refused");
  EXPECT_EQ(book().check().counted, 1);
}

TEST_P(python_client_test, waits_while_a_lock_rests_after_a_loss) {
  auto how = options{};
  how.prefix = prefix();
  const client maker = connect(settings().url, how);
  mutex(maker, "nightly", {.delay = 300ms}).acquire().release();  // the delay is stored with the name
  auto next = start_python();
  auto lost = start_python();
  const auto first = lost.acquire("nightly");
  lost.kill();
  expire_lease_of(lost);
  EXPECT_GT(next.acquire("nightly").token, first.token);
  EXPECT_EQ(next.ask("release"), "released");
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL"), 0);
}

TEST_P(python_client_test, waits_no_longer_than_asked_beside_a_guarded_transaction) {
  book().create({"nightly"});
  auto holder = start_python();
  auto other = start_python();
  other.acquire("other");
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("begin_guarded"), "guarded");
  EXPECT_EQ(other.ask("try_for nightly 50", slack), "busy");
  EXPECT_EQ(holder.ask("release_within 50", slack), "kept");
  EXPECT_EQ(holder.ask("end_guarded"), "written");
  EXPECT_EQ(holder.ask("renew"), "renewed");
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL"), 1)
      << "that was not released then";
  EXPECT_EQ(other.ask("release"), "released");
  EXPECT_EQ(queued(), 0);
}

TEST_P(python_client_test, renews_its_lease_beside_a_guarded_transaction) {
  if (dialect() == dialect::sqlite) return;  // there nobody can write beside it
  book().create({"nightly"});
  auto brief = in_python(patient());
  brief.ttl = 6s;
  auto holder = start_python();
  worker waiter{brief};
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("begin_guarded"), "guarded");
  waiter.tell("acquire nightly");
  const std::string renewed =
      "SELECT count(*) FROM @lease WHERE ttl_ms = 6000 AND expires_at > created_at + ";
  until("its lease is renewed",
        [&] { return number(renewed + in_dialect("interval '7 seconds'", "INTERVAL 7 SECOND")) == 1; });
  EXPECT_EQ(holder.ask("end_guarded"), "written");
  EXPECT_EQ(holder.ask("release"), "released");
  waiter.grant(slack);
  EXPECT_EQ(waiter.ask("release"), "released");
}

TEST_P(python_client_test, releases_a_lock_whose_row_is_missing) {
  auto holder = start_python();
  holder.acquire("nightly");
  sql().run(replace_all("DELETE FROM @lock WHERE name = 'nightly'", "@", prefix()));
  EXPECT_EQ(holder.ask("release", slack), "lost");
  EXPECT_EQ(holder.ask("state"), "valid");
}

TEST_P(python_client_test, goes_on_after_it_could_not_create_a_lock_at_once) {
  if (dialect() != dialect::mysql) return;  // only there a wait for the row of rowlock_meta ends early
  auto waiter = start_python();
  sql().begin();
  number("SELECT id FROM @meta WHERE id = 1 FOR UPDATE");
  waiter.tell("acquire nightly");
  const auto waits_since = [&] {
    // MariaDB refreshes the report only if nobody has read it for a tenth of a second.
    std::this_thread::sleep_for(120ms);
    return number(
        "SELECT COALESCE(MAX(UNIX_TIMESTAMP(trx_wait_started)), 0) FROM information_schema.innodb_trx "
        "WHERE trx_query LIKE '%FROM @meta%SHARE MODE'");
  };
  std::int64_t first = 0;
  until("it waits", [&] { return (first = waits_since()) > 0; });
  until("it waits once more", [&] { return waits_since() > first; });
  sql().run("COMMIT");
  waiter.grant(slack);
  EXPECT_EQ(waiter.ask("release"), "released");
}

TEST_P(python_client_test, goes_on_after_it_has_asked_for_another_kind_of_lock) {
  const client operators = start_operators();
  counting_semaphore(operators, "seats", 2).acquire().release();
  auto holder = start_python();
  holder.acquire("nightly");
  EXPECT_EQ(holder.ask("acquire seats"), "error RuntimeError seats is not a fair mutex");
  EXPECT_EQ(holder.ask("state"), "valid");
  EXPECT_EQ(holder.ask("release"), "released");
}

TEST_P(python_client_test, repeats_no_token_after_the_log_was_deleted_while_nobody_had_it_open) {
  if (dialect() != dialect::sqlite) return;
  const temporary_folder folder;
  const auto path = (folder.path() / "locks.db").string();
  auto how = in_python(patient());
  how.url = "sqlite:" + path;
  how.prefix = options{}.prefix;
  migrator{how.url}.up();
  mutex(connect(how.url), "nightly").acquire().release();
  const auto token_before_a_kill = [&] {
    worker killed{how};
    const auto token = killed.acquire("nightly").token;
    killed.kill();
    return token;
  };
  const auto first = token_before_a_kill();
  for (const auto* end : {"-wal", "-shm"}) std::filesystem::remove(path + end);
  EXPECT_GT(token_before_a_kill(), first);
}

ROWLOCK_FOR_EACH_SQL_STORE(python_client_test);

}  // namespace

}  // namespace rowlock::test
