#include "galera_test.hpp"

#include "model/ids.hpp"

#include <rowlock/migrate.hpp>

#include <thread>

namespace rowlock::test {

void until(const std::string& what, const std::function<bool()>& is_so, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("not within " + std::to_string(limit.count()) + " ms: " + what);
    }
    std::this_thread::sleep_for(10ms);
  }
}

void galera_test::SetUp() {
  nodes_.repair();
  database_ = "t" + model::id128::random().to_string().substr(0, 12);
  nodes_.connect(1).run("CREATE DATABASE " + database_);
  migrator{url(1)}.up();
  for (const int node : {2, 3}) {
    until("the tables are everywhere", [&] {
      try {
        return number("SELECT count(*) FROM rowlock_meta", node) == 1;
      } catch (const std::exception&) {
        return false;
      }
    });
  }
}

void galera_test::TearDown() {
  nodes_.repair();
  nodes_.connect(1).run("DROP DATABASE IF EXISTS " + database_);
}

worker_settings galera_test::settings(int node) const {
  worker_settings made;
  made.url = url(node);
  made.prefix = "rowlock_";
  made.application = "node " + std::to_string(node);
  made.ttl = 60s;
  made.close_timeout = 20s;
  made.statement_timeout = 2s;
  return made;
}

audit galera_test::check(sql_session& session) {
  // The node may still give its data to another one; it answers with error 1205 if it cannot catch up in half a minute.
  until(
      "the node has applied everything",
      [&] {
        try {
          session.run("SET SESSION wsrep_sync_wait = 1");
          return session.number("SELECT count(*) FROM rowlock_log") >= 0;
        } catch (const std::exception&) {
          return false;
        }
      },
      150s);
  return ledger{session, "rowlock_"}.check();
}

void galera_test::until_queued(std::int64_t count, int node) const {
  until(std::to_string(count) + " waiters stand in the queue",
        [&] { return number("SELECT count(*) FROM rowlock_queue", node) == count; });
}

}  // namespace rowlock::test
