// A migrated schema on the server of ROWLOCK_TEST_POSTGRES_URL, which belongs to the test, and connections beside the
// store's.
#pragma once

#include "store/backends.hpp"
#include "store/raw_postgres.hpp"
#include "store/session_steps.hpp"
#include "support/ends_ghost.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace rowlock::test {

// Applies the migrations as rowlock's migrator does.
void migrate_postgres(const std::string& url, const store::store_options& options);
// A store's query, with the prefix inserted.
std::string postgres_query(std::string_view name, std::string_view prefix = "rowlock_");
// The process id of the session's backend, from session::backend().
int pid_of(const store::session& session);

class postgres_test : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Overridden by a test that has a server of its own.
  virtual std::string server_url() const;

  std::unique_ptr<store::session> connect() { return store::open_postgres(url_, options_)->connect(); }
  // A connected session, for a database that grants.
  std::unique_ptr<store::session> ready();
  // A connection of the application's, whose search_path is the schema.
  std::unique_ptr<raw_postgres> raw();
  // A lock that a new lease holds.
  claim held(store::session& session, const std::string& name);
  // Reconnects: the server's counters of a table are right once the sessions that wrote have ended.
  void restart(std::unique_ptr<store::session>& session);
  std::int64_t counter(const std::string& table, const std::string& what);

  std::string url_;
  store::store_options options_;
  std::unique_ptr<raw_postgres> side_;
};

}  // namespace rowlock::test
