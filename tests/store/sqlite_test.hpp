// A migrated SQLite file in a folder that belongs to the test, and a connection beside the store's.
#pragma once

#include "store/backends.hpp"
#include "store/embedded.hpp"
#include "store/sql_catalog.hpp"
#include "support/sqlite_clock.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::test {

// SQLite itself, as an application's own code uses it. It waits for nothing.
class raw_sqlite {
 public:
  // vfs: the name of the file system that SQLite shall use; null: the usual one.
  explicit raw_sqlite(const std::string& path, const char* vfs = nullptr) {
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
              SQLITE_OK);
    sqlite3_extended_result_codes(handle_, 1);
  }
  ~raw_sqlite() { sqlite3_close(handle_); }
  raw_sqlite(const raw_sqlite&) = delete;
  raw_sqlite& operator=(const raw_sqlite&) = delete;

  struct answer {
    int code = SQLITE_DONE;           // SQLITE_DONE, or the extended code of an error
    std::vector<std::string> values;  // of the first column
  };
  answer ask(const std::string& sql, std::initializer_list<std::string> parameters = {}) {
    answer result;
    sqlite3_stmt* statement = nullptr;
    result.code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr);
    if (result.code != SQLITE_OK) return result;
    int index = 0;
    for (const auto& value : parameters)
      sqlite3_bind_text(statement, ++index, value.c_str(), -1, SQLITE_TRANSIENT);
    while ((result.code = sqlite3_step(statement)) == SQLITE_ROW) {
      const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      result.values.emplace_back(value != nullptr ? value : "");
    }
    sqlite3_finalize(statement);
    return result;
  }
  // Runs any number of statements, which must succeed.
  void run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle_);
  }
  std::int64_t number(const std::string& sql) {
    const auto result = ask(sql);
    EXPECT_EQ(result.values.size(), 1U) << sql << ": " << result.code;
    return result.values.empty() ? -1 : std::stoll(result.values.front());
  }
  sqlite3* handle() { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

inline void migrate_sqlite(const std::string& path, const std::string& prefix = "rowlock_") {
  store::store_options options;
  options.prefix = prefix;
  const auto session = store::open_sqlite_for_migration(path, options);
  int version = 0;
  for (const auto& file : embedded::sqlite_migrations()) {
    if (!file.name.ends_with(".up")) continue;
    session->apply(
        store::with_prefix(file.text, prefix),
        {.version = ++version, .title = std::string{file.name}, .checksum = "x", .applied_at = {}});
  }
}

class sqlite_test : public testing::Test {
 protected:
  sqlite_test() {
    options_.statement_timeout = std::chrono::milliseconds{2'000};
    migrate_sqlite(path());
  }

  std::string path() const { return folder_.path() / "locks.db"; }
  std::unique_ptr<store::session> connect() { return store::open_sqlite(path(), options_)->connect(); }
  // A connected session, for a database that grants.
  std::unique_ptr<store::session> ready() {
    auto session = connect();
    session->record_database_state();
    return session;
  }

  static store::lease_record lease(std::chrono::milliseconds ttl = std::chrono::seconds{30}) {
    const auto id = model::lease_id::random();
    return {.id = id, .client = id, .host = "host", .pid = 1, .application = "test", .ttl = ttl};
  }
  static store::lease_record new_lease(store::session& session,
                                       std::chrono::milliseconds ttl = std::chrono::seconds{30}) {
    auto record = lease(ttl);
    session.create_lease(record);
    return record;
  }
  static void create(store::session& session, const std::string& name) {
    const model::lock_definition definition{.name = name};
    session.create({&definition, 1});
  }
  static std::optional<store::grant> acquire(store::session& session, const std::string& name,
                                             const store::lease_id& lease, store::hold_id hold) {
    const store::acquire_item request{.name = name, .lease = lease, .hold = hold};
    const auto grants = session.acquire({&request, 1});
    if (grants.empty()) return {};
    return grants.front();
  }
  static bool release(store::session& session, const std::string& name, const store::lease_id& lease,
                      store::hold_id hold, store::durability how = store::durability::asynchronous) {
    const store::release_item request{.name = name, .lease = lease, .hold = hold};
    return !session.release({&request, 1}, how).empty();
  }

  temporary_folder folder_;
  store::store_options options_;
};

// The error that work throws; the test fails if it throws none.
inline std::optional<error> error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const error& caught) {
    return caught;
  }
  ADD_FAILURE() << "no rowlock::error was thrown";
  return {};
}

inline void expect_error(const std::function<void()>& work, errc code, const std::string& says = {}) {
  const auto caught = error_of(work);
  if (!caught) return;
  EXPECT_STREQ(to_string(caught->kind()), to_string(code)) << caught->what();
  EXPECT_NE(std::string{caught->what()}.find(says), std::string::npos) << caught->what();
}

}  // namespace rowlock::test
