// A migrated database on a server of MariaDB or MySQL, which belongs to the test, and connections beside the store's.
#pragma once

#include "store/session_steps.hpp"
#include "support/background.hpp"
#include "support/mysql_connection.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

namespace rowlock::test {

class mysql_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  std::unique_ptr<store::session> connect() { return database_->connect(); }
  // A connected session, for a database that grants.
  std::unique_ptr<store::session> ready();
  // A connection of the application's.
  std::unique_ptr<mysql_connection> raw() {
    return std::make_unique<mysql_connection>(as_application(fixture_->url()));
  }
  // Switches MariaDB's innodb_snapshot_isolation, which is ON by default from 11.6, for one connection. Returns false
  // if the server has no such setting, as MySQL.
  static bool snapshot_isolation(mysql_connection& of, bool on);
  // Runs the statement on a thread of its own; returns when the server says that the statement waits for a row. @
  // stands for the prefix.
  std::future<mysql_connection::rows> run_until_blocked(mysql_connection& connection, const std::string& sql);
  // Returns when the connection with this number waits.
  void until_blocked(const std::string& connection_id);
  // What call() answers while a row is locked that it must not wait for. If call() waits, the test fails and let_go()
  // is called.
  template <class Call>
  auto unwaiting(const store::session& session, Call call, const std::function<void()>& let_go) {
    auto answer = in_background(std::move(call));
    while (answer.wait_for(std::chrono::milliseconds{10}) != std::future_status::ready) {
      if (!is_blocked(connection_of(session))) continue;
      ADD_FAILURE() << "it waits for a row";
      let_go();
      break;
    }
    return answer.get();
  }
  // Returns when the session waits for a row in that call. Throws what the call throws if it ends instead.
  template <class Result>
  void until_blocked(const store::session& session, std::future<Result>& call) {
    while (!is_blocked(connection_of(session))) {
      // MariaDB refreshes the report only if nobody has read it for a tenth of a second.
      if (call.wait_for(std::chrono::milliseconds{120}) != std::future_status::ready) continue;
      call.get();
      throw std::runtime_error("it does not wait for a row");
    }
  }
  // Runs the round again while it ends with `contention`, but not for ever: a session waits for a row for one second
  // only, and the machine may pause for longer.
  template <class Round>
  static void until_uncontended(Round round) {
    for (int rounds = 1;; ++rounds) {
      try {
        return round();
      } catch (const error& failure) {
        if (failure.code() != errc::contention || rounds == 5) throw;
      }
    }
  }
  bool is_blocked(const std::string& connection_id);
  // The number of the session's connection.
  static std::string connection_of(const store::session& session);

  std::string put(std::string sql) const;  // puts the prefix in the place of @
  mysql_connection::rows run(mysql_connection& on, const std::string& sql,
                             std::initializer_list<std::string> parameters = {}) {
    return on.run(put(sql), parameters);
  }
  std::string value(const std::string& sql) { return side_->value(put(sql)); }

  std::unique_ptr<store_fixture> fixture_;
  std::unique_ptr<store::database> database_;
  std::unique_ptr<mysql_connection> side_;
};

}  // namespace rowlock::test
