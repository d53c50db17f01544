#include "process_test.hpp"
#include "support/long_run.hpp"

namespace rowlock::test {

namespace {

class counter_test : public process_test {};

// Checks I1, I2 and I9 at once, with real processes.
TEST_P(counter_test, is_exact_and_grants_follow_tickets) {
  constexpr int processes = 8;
  constexpr int threads = 4;
  const int rounds = is_long_run() ? 150 : 12;
  book().create({"counter"});
  book().note_tickets();
  auto patient = settings();
  patient.ttl = 30s;  // nothing may be lost here, however busy the machine is
  patient.close_timeout = 30s;
  std::vector<worker> workers;
  for (int i = 0; i < processes; ++i) workers.emplace_back(patient);
  for (auto& one : workers) {
    ASSERT_EQ(
        one.ask("load unguarded " + std::to_string(threads) + " " + std::to_string(rounds) + " counter"),
        "loading");
  }
  for (auto& one : workers) {
    auto counts = one.counts("join", 300s);
    EXPECT_EQ(counts["written"], threads * rounds);
    EXPECT_EQ(counts["lost"], 0);
    EXPECT_EQ(counts["unreleased"], 0);
    EXPECT_LE(counts["pending"], threads * rounds / 4)
        << "on a busy machine a few; all took effect, see below";
  }
  const auto found = book().check();
  EXPECT_EQ(found.counted, processes * threads * rounds);
  EXPECT_EQ(found.logged, processes * threads * rounds);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.ticket_faults, 0);
  // If hardly anybody had waited, the order would show nothing.
  EXPECT_GT(found.queued, found.logged / 2);
}

ROWLOCK_FOR_EACH_SQL_STORE(counter_test);

}  // namespace

}  // namespace rowlock::test
