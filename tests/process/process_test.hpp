// The fixture of the process tests: a fresh database that several processes use, and checks of what they leave in it.
#pragma once

#include "ledger.hpp"
#include "own_server.hpp"
#include "support/sql_stores.hpp"
#include "support/store_fixture.hpp"
#include "worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

using namespace std::chrono_literals;

// How late something may happen on a busy machine, which may pause for seconds. It is far less than a worker's ttl, so
// whatever comes within it has not waited for the end of a lease.
inline constexpr auto slack = 6s;

class process_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  // Checks that the workers left nothing in the server. The workers must have ended by then: they are locals of the
  // tests.
  void TearDown() override;

  // Sets the database that the processes use. SetUp() calls it.
  // observer_url: of the test's own session; the same URL unless it is given.
  void use(std::string url, std::string prefix, std::string observer_url = {});

  worker_settings settings() const;
  worker start() const { return worker{settings()}; }

  sql_session& sql() { return *session_; }
  const std::string& prefix() const noexcept { return prefix_; }
  void reconnect() { session_ = sql_session::open(observer_url_); }
  ledger book() { return {*session_, prefix_}; }
  test::dialect dialect() const { return session_->dialect(); }
  // The text for the store's dialect.
  std::string in_dialect(const char* postgres, const char* mysql, const char* sqlite = "") const;
  // @ stands for the prefix.
  std::int64_t number(std::string sql, std::initializer_list<std::string> parameters = {});

  std::int64_t queued() { return number("SELECT count(*) FROM @queue"); }
  std::int64_t leases() { return number("SELECT count(*) FROM @lease"); }
  void until_queued(std::int64_t count);
  // Sets the expiry of the worker's lease into the past, as if its ttl were over. The worker must have been killed or
  // stopped. Not for a server of the test's own.
  void expire_lease_of(const worker& ended);

  // Waits until is_so. The failure names what it waited for.
  static void until(const std::string& what, const std::function<bool()>& is_so,
                    std::chrono::milliseconds limit = 30s);

  // The numbers of the server's backends of all workers. Not for SQLite.
  std::vector<std::int64_t> backends();
  // Ends these backends, and returns how many there were.
  std::int64_t terminate_backends();

 private:
  std::unique_ptr<store_fixture> store_;
  std::unique_ptr<sql_session> session_;
  std::string url_;
  std::string observer_url_;
  std::string prefix_;
  std::string application_;
};

// The same fixture on a server that belongs to the test.
class own_server_test : public process_test {
 protected:
  void SetUp() override;
  void TearDown() override;

  own_server& server() { return *server_; }

 private:
  std::unique_ptr<own_server> server_;
};

}  // namespace rowlock::test

#define ROWLOCK_FOR_EACH_SERVER(suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                             \
      stores, suite, testing::ValuesIn(::rowlock::test::selected_of({"postgres", "mariadb", "mysql"})), \
      ::rowlock::test::store_test_name)
