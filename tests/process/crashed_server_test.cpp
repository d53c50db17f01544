#include "process_test.hpp"

#include "store/open.hpp"
#include "support/long_run.hpp"

#include <algorithm>

namespace rowlock::test {

namespace {

class crashed_server_test : public own_server_test {};

TEST_P(crashed_server_test, under_load_grants_nothing_twice) {
  const int crashes = is_long_run() ? 12 : 3;
  book().create({"one", "two", "three"});
  auto patient = settings();
  patient.ttl = 6s;
  std::vector<worker> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(patient);
  // The load is guarded, because the processes lose their holds if the server is down for longer than the ttl.
  for (auto& one : workers) ASSERT_EQ(one.ask("load guarded 4 0 one two three"), "loading");
  for (int crash = 0; crash <= crashes; ++crash) {
    const auto logged = number("SELECT count(*) FROM @log");
    until("grants go on after crash " + std::to_string(crash),
          [&] { return number("SELECT count(*) FROM @log") > logged + 100; });
    if (crash == crashes) break;
    server().crash();
    server().start();
    reconnect();
  }
  std::int64_t written = 0;
  for (auto& one : workers) {
    auto counts = one.counts("halt", 60s);
    EXPECT_EQ(counts["unaware"], 0);
    written += counts["written"];
  }
  const auto found = book().check();
  // The application's own commits may have been in doubt, so the lines of the log are counted instead.
  EXPECT_GE(found.logged, written);
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  until("nobody stands in the queue or holds anything",
        [&] { return queued() == 0 && number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") == 0; });
}

// I8: a release is answered before it is on disk, so the crash loses it. Grants are on disk.
TEST_P(crashed_server_test, forgets_releases_which_are_repaired_and_no_grants) {
  constexpr int many = 200;
  book().create({"kept"});
  auto patient = settings();
  patient.ttl = 10min;
  worker client{patient};
  const auto kept = client.acquire("kept");
  ASSERT_EQ(client.ask("hold_many released/ " + std::to_string(many)), "held");
  ASSERT_EQ(client.ask("release_many"), "released");
  client.stop();  // keeps the lost releases unrepaired until they are counted
  server().crash();
  server().start();
  reconnect();
  const auto forgotten = number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL AND name <> 'kept'");
  if (server().forgets_lazy_commits()) {
    EXPECT_GT(forgotten, 0) << "nothing was forgotten, so nothing is tested";
  } else {
    EXPECT_EQ(forgotten, 0);
  }
  client.go_on();
  // The client repairs them long before the ttl has passed, and before the next renewal that was due anyway.
  until(
      "every release is repaired",
      [&] { return number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") == 1; }, 30s);
  EXPECT_EQ(client.ask("state"), "valid none");
  EXPECT_EQ(client.ask("write"), "written");
  EXPECT_EQ(number("SELECT token FROM @lock WHERE name = 'kept'"), kept.token);
  EXPECT_EQ(client.ask("release"), "released");
}

// A client learns from its renewal that commits may be missing.
TEST_P(crashed_server_test, has_another_marker) {
  auto client = start();
  client.acquire("nightly");
  EXPECT_EQ(client.ask("release"), "released");
  client.finish();
  const auto marker = [&] {
    store::store_options how;
    how.prefix = prefix();
    return store::open(settings().url, how)->connect()->read_database_state().marker;
  };
  const auto before = marker();
  EXPECT_NE(before, "");
  EXPECT_EQ(marker(), before);
  server().crash();
  server().start();
  reconnect();
  EXPECT_NE(marker(), before);
}

// What was granted before a crash stays granted, and the waiters go on waiting. A crash may lose their places, because
// a ticket is no promise until its waiter knows it. The waiters then take new places.
TEST_P(crashed_server_test, keeps_holder_and_waiters) {
  auto patient = settings();
  patient.ttl = 10min;
  worker holder{patient};
  std::vector<worker> waiters;
  const auto before = holder.acquire("nightly");
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back(patient);
    waiters.back().tell("acquire nightly");
    until_queued(i + 1);
  }
  server().crash();
  server().start();
  reconnect();
  until_queued(3);
  EXPECT_EQ(holder.ask("state"), "valid none");
  EXPECT_EQ(holder.ask("release"), "released");
  auto token = before.token;
  while (!waiters.empty()) {
    const auto is_next = [](worker& one) { return !one.is_silent(); };
    until(
        "another waiter is granted", [&] { return std::ranges::any_of(waiters, is_next); }, 5s);
    const auto next = std::ranges::find_if(waiters, is_next);
    const auto now = next->grant();
    EXPECT_GT(now.token, token);
    token = now.token;
    EXPECT_EQ(next->ask("release"), "released");
    waiters.erase(next);
  }
}

ROWLOCK_FOR_EACH_SERVER(crashed_server_test);

}  // namespace

}  // namespace rowlock::test
