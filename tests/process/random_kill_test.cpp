#include "kill_test.hpp"
#include "support/long_run.hpp"

namespace rowlock::test {

namespace {

// Processes are killed at any moment, also between the statements of an acquire, of a hand-over, or of a guarded
// transaction.
class random_kill_test : public kill_test {};

TEST_P(random_kill_test, leaves_the_counter_exact_and_no_name_locked) {
  const auto length = is_long_run() ? 120s : 10s;
  // There are so many names that some are free while others wait for the leases of the dead.
  std::vector<std::string> names;
  std::string load = "load guarded 4 0";
  for (int i = 0; i < 20; ++i) load += ' ' + names.emplace_back("name/" + std::to_string(i));
  book().create(names);
  crew all{mortal(), load, 4};
  const auto end = std::chrono::steady_clock::now() + length;
  // A slow machine may need longer for the fewest kills that say something.
  for (int kills = 0; kills <= 10 || std::chrono::steady_clock::now() < end; ++kills) {
    until_some_moment(300ms);
    all.kill_one(random());
  }
  EXPECT_EQ(all.halt().at("unaware"), 0);
  auto survivor = start();
  const auto limit = std::chrono::steady_clock::now() + mortal().ttl + 30s;
  for (const auto& name : names) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    const auto said = survivor.ask("try_for " + name + " " + std::to_string(std::max(left, 1ms).count()),
                                   std::max(left, 1ms) + 30s);
    EXPECT_TRUE(said.starts_with("granted ")) << name << ": " << said;
  }
  survivor.finish();
  const auto found = book().check();
  EXPECT_GT(found.logged, 20);  // the dead keep most names locked
  EXPECT_EQ(found.counted, found.logged);
  EXPECT_EQ(found.repeated_values, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(number("SELECT count(*) FROM @lock WHERE in_use <> 0 AND hold_id IS NULL"), 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(random_kill_test);

}  // namespace

}  // namespace rowlock::test
