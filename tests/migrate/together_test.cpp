#include "migrate/migrate_test.hpp"

#include <atomic>
#include <barrier>
#include <thread>

namespace rowlock::test {

using testing::IsEmpty;

// Several pipelines migrate one database.
class together_test : public migrate_test {
 protected:
  // Runs the work in several threads at once, each with its own migrator. Returns how many of them did something.
  int in_parallel(const std::function<std::size_t(migrator&)>& work) {
    constexpr int migrators = 6;
    std::barrier start{migrators};
    std::atomic<int> active{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < migrators; ++i) {
      threads.emplace_back([&] {
        auto one = std::make_unique<migrator>(db.url(), db.settings());
        start.arrive_and_wait();
        try {
          if (work(*one) > 0) ++active;
        } catch (const std::exception& problem) {
          ADD_FAILURE() << problem.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return active;
  }
};

TEST_P(together_test, one_applies_and_the_others_find_it_done) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(in_parallel([](migrator& one) { return one.up().size(); }), 1);
    EXPECT_THAT(open().verify(), IsEmpty());
    EXPECT_EQ(in_parallel([](migrator& one) { return one.down(0, true).size(); }), 1);
    EXPECT_THAT(db.describe(), IsEmpty());
  }
}

TEST_P(together_test, one_adopts) {
  db.run_file(db.migrations() / "0001_locks.up.sql");
  EXPECT_EQ(in_parallel([](migrator& one) { return one.adopt().size(); }), 1);
}

ROWLOCK_FOR_EACH_SQL_STORE(together_test);

}  // namespace rowlock::test
