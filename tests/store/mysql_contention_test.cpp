#ifdef ROWLOCK_TEST_MYSQL

// I10: normal contention is no error: it causes no deadlock, no wait for a row, and no line in the log.
#include "store/mysql_test.hpp"
#include "store/try_once.hpp"

#include <rowlock/rowlock.hpp>

#include <fstream>
#include <thread>

namespace rowlock::test {
namespace {

class mysql_contention_test : public mysql_test {
 protected:
  std::int64_t deadlocks() {
    if (GetParam() == "mysql") {
      return std::stoll(
          side_->value("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'"));
    }
    return std::stoll(side_->run("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").at(0).at(1));
  }
  static std::vector<std::string> log() {
    const char* path =
        std::getenv(GetParam() == "mysql" ? "ROWLOCK_TEST_MYSQL_LOG" : "ROWLOCK_TEST_MARIADB_LOG");
    std::ifstream file{path ? path : ""};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (line.find("[ERROR]") != std::string::npos || line.find("deadlock") != std::string::npos)
        lines.push_back(line);
    }
    return lines;
  }
};

TEST_P(mysql_contention_test, of_many_clients_on_few_names_deadlocks_nobody_and_logs_nothing) {
  const auto before = deadlocks();
  const auto logged = log().size();
  options settings;
  settings.prefix = fixture_->options().prefix;
  std::vector<std::jthread> threads;
  std::atomic<int> granted{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const client db = rowlock::connect(fixture_->url(), settings);
      std::vector<std::jthread> own;
      for (int j = 0; j < 4; ++j) {
        own.emplace_back([&, j] {
          for (int round = 0; round < 30; ++round) {
            // Batches take several names, in any order.
            mutex wanted{db, "name/" + std::to_string((i * 7 + j * 5 + round) % 3)};
            const auto held = round % 5 == 4 ? try_once(wanted) : wanted.try_acquire_for(20s);
            granted += held ? 1 : 0;
          }
        });
      }
    });
  }
  threads.clear();
  EXPECT_GT(granted, 4 * 4 * 24 - 1);
  EXPECT_EQ(deadlocks(), before);
  EXPECT_EQ(log().size(), logged) << log().back();
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_contention_test);

}  // namespace
}  // namespace rowlock::test

#endif
