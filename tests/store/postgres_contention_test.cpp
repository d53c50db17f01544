// I10: normal contention is no error: it causes no deadlock, no aborted transaction, and no line in the log.
#include "store/postgres_server.hpp"
#include "store/postgres_test.hpp"
#include "store/try_once.hpp"

#include <rowlock/rowlock.hpp>

#include <atomic>
#include <sstream>
#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class postgres_contention_test : public postgres_test {
 protected:
  std::string server_url() const override {
    server_ = std::make_unique<postgres_server>();
    return server_->url();
  }
  std::vector<std::string> complaints() const {
    std::vector<std::string> lines;
    std::istringstream log{server_->log()};
    for (std::string line; std::getline(log, line);) {
      for (const auto* kind : {"ERROR:", "WARNING:", "FATAL:", "deadlock"}) {
        if (line.find(kind) != std::string::npos) lines.push_back(line);
      }
    }
    return lines;
  }

  mutable std::unique_ptr<postgres_server> server_;
};

TEST_F(postgres_contention_test, of_many_clients_on_few_names_deadlocks_nobody_and_logs_nothing) {
  const auto before = complaints().size();
  options settings;
  settings.schema = options_.schema;
  std::atomic<int> granted{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const client db = rowlock::connect(server_->url(), settings);
      std::vector<std::jthread> own;
      for (int j = 0; j < 4; ++j) {
        own.emplace_back([&, j] {
          for (int round = 0; round < 30; ++round) {
            // Batches take several names, in any order.
            const auto name = "name/" + std::to_string((i * 7 + j * 5 + round) % 3);
            mutex wanted{db, name};
            const auto held = round % 5 == 4 ? try_once(wanted) : wanted.try_acquire_for(20s);
            granted += held ? 1 : 0;
            const auto reads = shared_mutex(db, "read/" + name).try_acquire_shared_for(20s);
            granted += reads ? 1 : 0;
          }
        });
      }
    });
  }
  threads.clear();
  EXPECT_GE(granted, 4 * 4 * (24 + 30));
  // The server writes the counters when a session ends, or soon after.
  EXPECT_EQ(side_->value("SELECT sum(deadlocks) FROM pg_stat_database"), "0");
  const auto after = complaints();
  EXPECT_EQ(after.size(), before) << after.back();
}

}  // namespace
}  // namespace rowlock::test
