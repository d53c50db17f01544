#include "process_test.hpp"

#include <random>
#include <thread>

namespace rowlock::test {

namespace {

// Processes that are killed at any moment: between the statements of an acquire, of a hand-over, of a
// guarded transaction.
class random_kill_test : public process_test {};

TEST_P(random_kill_test, leaves_the_counter_exact_and_no_name_locked) {
  const auto length = is_long_run() ? 120s : 10s;
  constexpr std::size_t processes = 4;
  // So many that some are free while others wait for the leases of the dead.
  std::vector<std::string> names;
  std::string load = "load guarded 4 0";
  for (int i = 0; i < 20; ++i) load += ' ' + names.emplace_back("name/" + std::to_string(i));
  book().create(names);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random{seed};
  auto mortal = settings();
  mortal.ttl = 1s;
  std::vector<std::unique_ptr<worker>> workers(processes);
  const auto begin = [&](std::unique_ptr<worker>& one) {
    one = std::make_unique<worker>(mortal);
    ASSERT_EQ(one->ask(load), "loading");
  };
  for (auto& one : workers) begin(one);
  const auto end = std::chrono::steady_clock::now() + length;
  int kills = 0;
  for (; std::chrono::steady_clock::now() < end; ++kills) {
    // The random moment is the test.
    std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution{0, 300'000}(random)});
    auto& victim = workers[std::uniform_int_distribution<std::size_t>{0, processes - 1}(random)];
    victim->kill();
    begin(victim);
  }
  for (auto& one : workers) {
    auto counts = one->counts("halt", 60s);
    EXPECT_EQ(counts["unaware"], 0);
  }
  EXPECT_GT(kills, 10);
  auto survivor = start();
  const auto limit = std::chrono::steady_clock::now() + mortal.ttl + slack;
  for (const auto& name : names) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    const auto said = survivor.ask("try_for " + name + " " + std::to_string(std::max(left, 1ms).count()));
    EXPECT_TRUE(said.starts_with("granted ")) << name << ": " << said;
  }
  survivor.finish();
  const auto found = book().check();
  EXPECT_GT(found.logged, 100);
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE in_use <> 0 AND hold_id IS NULL"), 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(random_kill_test);

}  // namespace

}  // namespace rowlock::test
