// Processes, and threads of several clients, contend for a lock and write a history, which must have no violation.
#include "excerpt.hpp"

#include "support/history_recorder.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <random>
#include <thread>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

constexpr int clients = 4;
constexpr int rounds = 25;
constexpr auto ttl = 4'500ms;  // when a holder is killed, the others wait so long

class contention_test : public testing::TestWithParam<std::string> {
 protected:
  contention_test() : store_{make_store_fixture(GetParam())} {}

  client connect() const {
    options settings;
    settings.prefix = store_->options().prefix;
    settings.schema = store_->options().schema;
    settings.ttl = ttl;
    settings.statement_timeout = ttl / 3;
    return rowlock::connect(store_->url(), settings);
  }

  // The work of each process. Returns its exit code.
  int visit(int number) const try {
    history_recorder book{folder(), ttl};
    const std::string actor = "main";
    auto db = connect();
    admin database{db};
    mutex lock{db, "billing"};
    std::mt19937 random{static_cast<unsigned>(number)};
    for (int round = 0; round < rounds; ++round) {
      const auto call = book.requests("billing", actor);
      // Some of the requests give up.
      auto held = random() % 4 == 0 ? lock.try_acquire_for(1ms) : lock.acquire();
      if (!held) {
        book.failed("billing", actor, call);
        continue;
      }
      book.granted(held, actor, call);
      if (round % 3 == 0) note_state(book, database, "billing");
      book.releases(held, actor);
    }
    db.close();
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }

  // No rule needs each state, and a busy database may give no answer in time.
  static void note_state(history_recorder& book, admin& database, const std::string& name) {
    try {
      book.state(database, name);
    } catch (const error& refused) {
      if (!refused.transient()) throw;
    }
  }

  const std::string& folder() const { return folder_name_; }

  std::vector<history::violation> violations(std::size_t& grants) const {
    std::vector<history::event> events;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path()}) {
      std::ifstream from{entry.path()};
      history::read_events(from, entry.path().filename().string(), events);
    }
    history::sort_events(events);
    const auto locks = history::locks_of(events);
    auto found = history::check(events, {20s});  // a busy machine may be slow
    for (const auto& one : found) history::print(one, events, locks.at(one.name), std::cout);
    grants = 0;
    queued_ = 0;
    for (const auto& [name, lock] : locks) {
      for (const auto& one : lock.attempts) {
        grants += one.granted ? 1U : 0U;
        queued_ += one.granted && one.ticket ? 1U : 0U;
      }
    }
    return found;
  }

  mutable std::size_t queued_ = 0;

 private:
  std::unique_ptr<store_fixture> store_;
  temporary_folder folder_;
  std::string folder_name_ = folder_.path().string();
};

TEST_P(contention_test, processes_leave_a_clean_history_of_a_mutex) {
  std::vector<pid_t> processes;
  for (int number = 0; number < clients; ++number) {
    const auto process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) ::_exit(visit(number));
    processes.push_back(process);
  }
  // One of the processes is killed, while it holds the lock or waits.
  std::this_thread::sleep_for(100ms);
  ::kill(processes.front(), SIGKILL);
  for (const auto process : processes) {
    int status = 0;
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    if (process != processes.front()) {
      EXPECT_EQ(status, 0);
    }
  }
  std::size_t grants = 0;
  EXPECT_TRUE(violations(grants).empty());
  EXPECT_GT(grants, static_cast<std::size_t>(clients * rounds / 2));
  EXPECT_GT(queued_, 0U);
}

TEST_P(contention_test, a_semaphore_leaves_a_clean_history) {
  constexpr std::int64_t capacity = 3;
  history_recorder book{folder(), ttl};
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] {
        const auto actor = "client " + std::to_string(number);
        auto db = connect();
        admin database{db};
        counting_semaphore lock{db, "gpu", capacity};
        for (int round = 0; round < rounds; ++round) {
          const auto weight = 1 + (number + round) % 2;
          const auto call = book.requests("gpu", actor, weight, capacity);
          auto held = lock.acquire(weight);
          book.granted(held, actor, call, capacity);
          if (round % 5 == 0) note_state(book, database, "gpu");
          book.releases(held, actor);
        }
      });
    }
  }
  std::size_t grants = 0;
  EXPECT_TRUE(violations(grants).empty());
  EXPECT_EQ(grants, static_cast<std::size_t>(clients * rounds));
}

INSTANTIATE_TEST_SUITE_P(stores, contention_test,
                         testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                         store_test_name);

}  // namespace

}  // namespace rowlock::test
