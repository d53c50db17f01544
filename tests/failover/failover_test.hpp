// Clients of several servers, one of which takes writes at a time.
#pragma once

#include "galera_test.hpp"

#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

class failover_test : public testing::Test {
 protected:
  // Sets the URL that every client uses, and applies the migrations.
  void use(const std::string& url);
  const std::string& url() const noexcept { return url_; }

  // Long enough to outlast a fail-over.
  std::chrono::milliseconds ttl_ = 20s;
  worker_settings settings(const std::string& application) const;
  worker start(const std::string& application) const { return worker{settings(application)}; }
  std::int64_t number(const std::string& sql) const { return sql_session::open(url_)->number(sql); }
  std::int64_t epoch() const { return number("SELECT epoch_s FROM rowlock_meta"); }
  void until_queued(std::int64_t count) const;

  // The variable that a script exports. Throws std::runtime_error if it is not set.
  static std::string exported(const char* name, const char* script);
  // Runs a command of the script's control program. Throws std::runtime_error if the command fails.
  static void control(const std::string& command);

  // A holder, a waiter for its lock, and two processes that make guarded writes under other locks.
  struct crowd {
    worker holder;
    worker waiter;
    std::vector<worker> writers;
    std::int64_t token = 0;
  };
  crowd gather();
  // Expects that the writers go on, that the holder still holds, that the waiter still waits and is granted next, and
  // that no write was lost or doubled.
  void expect_to_have_gone_on(crowd& all);

 private:
  std::int64_t written() const { return number("SELECT count(*) FROM rowlock_log"); }

  std::string url_;
};

}  // namespace rowlock::test
