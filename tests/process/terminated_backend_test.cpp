#include "process_test.hpp"
#include "support/long_run.hpp"

namespace rowlock::test {

namespace {

// The server ends connections: an administrator, a pooler or a time limit can do that. Holds survive, because
// they depend on a lease and not on a connection.
class terminated_backend_test : public process_test {};

TEST_P(terminated_backend_test, while_holding_costs_nothing) {
  book().create({"nightly"});
  auto brief = settings();
  brief.ttl = 6s;
  worker holder{brief};
  const auto held = holder.acquire("nightly");
  EXPECT_GT(terminate_backends(), 0);
  // Another connection renews the lease beyond the expiry that the old one had written.
  const auto expiry = in_dialect("SELECT (extract(epoch FROM expires_at) * 1000000)::bigint FROM @lease",
                                 "SELECT timestampdiff(MICROSECOND, '1970-01-01', expires_at) FROM @lease");
  const auto ends = number(expiry);
  until("the lease was renewed twice", [&] { return number(expiry) > ends + 3'000'000; });
  EXPECT_EQ(holder.ask("state"), "valid none");
  EXPECT_EQ(holder.ask("write"), "written");
  EXPECT_EQ(number("SELECT token FROM @lock"), held.token);
  EXPECT_GT(terminate_backends(), 0);
  EXPECT_EQ(holder.ask("release"), "released");
}

// The wake-up is sent to a connection that is gone, or falls between two connections.
TEST_P(terminated_backend_test, while_waiting_loses_no_wake_up) {
  auto patient = settings();
  patient.ttl = 30s;
  worker holder{patient};
  worker waiter{patient};
  const int rounds = is_long_run() ? 200 : 15;
  std::int64_t token = 0;
  for (int round = 0; round < rounds; ++round) {
    holder.acquire("nightly");
    waiter.tell("acquire nightly");
    until_queued(1);
    holder.tell("release");
    terminate_backends();
    const auto now = waiter.grant(slack + 1s);  // a poll replaces a lost wake-up
    EXPECT_GT(now.token, token);
    token = now.token;
    EXPECT_EQ(holder.answer(), "released");
    EXPECT_EQ(waiter.ask("release"), "released");
  }
}

TEST_P(terminated_backend_test, under_load_grants_nothing_twice_and_loses_nothing) {
  const auto length = is_long_run() ? 60s : 6s;
  book().create({"one", "two", "three"});
  book().note_tickets();
  auto patient = settings();
  patient.ttl = 30s;
  std::vector<worker> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(patient);
  for (auto& one : workers) ASSERT_EQ(one.ask("load unguarded 4 0 one two three"), "loading");
  const auto end = std::chrono::steady_clock::now() + length;
  std::int64_t terminated = 0;
  while (std::chrono::steady_clock::now() < end) {
    // A round ends connections only after more grants were made, so that no client is cut off for ever.
    const auto logged = number("SELECT count(*) FROM @log");
    until("grants go on", [&] { return number("SELECT count(*) FROM @log") > logged + 20; });
    terminated += terminate_backends();
  }
  std::int64_t written = 0;
  for (auto& one : workers) {
    auto counts = one.counts("halt", 60s);
    written += counts["written"];
    EXPECT_EQ(counts["written"], counts["granted"]);
    EXPECT_EQ(counts["lost"], 0);
  }
  EXPECT_GT(terminated, 20);
  const auto found = book().check();
  EXPECT_EQ(found.counted, written);
  EXPECT_EQ(found.logged, written);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.ticket_faults, 0);
  // Requests that were in doubt are settled, and leave nothing behind.
  until("nobody stands in the queue or holds anything",
        [&] { return queued() == 0 && number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") == 0; });
}

ROWLOCK_FOR_EACH_SERVER(terminated_backend_test);

}  // namespace

}  // namespace rowlock::test
