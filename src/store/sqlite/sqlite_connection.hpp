// One connection to an SQLite file: prepared statements by name, the wait for the write lock, and the
// durability of commits.
#pragma once

#include "store/sql_catalog.hpp"
#include "store/sqlite/sqlite_file.hpp"
#include "store/sqlite/sqlite_query.hpp"
#include "store/store.hpp"

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::store {

// Used by one thread at a time, except interrupt().
class sqlite_connection {
 public:
  // timeout: how long to wait for the write lock. read_only: nothing is written, and the file and its folder
  // need not be writable. Throws as check_sqlite_file and check_sqlite_names do, and error(invalid_argument)
  // for a file that is not an SQLite database.
  sqlite_connection(std::string path, std::shared_ptr<const sql_catalog> catalog,
                    std::chrono::milliseconds timeout, missing_file missing, bool read_only = false);
  ~sqlite_connection();
  sqlite_connection(const sqlite_connection&) = delete;
  sqlite_connection& operator=(const sqlite_connection&) = delete;

  // A run of a statement of the catalog, which is prepared once.
  template <class... Values>
  sqlite_query query(std::string_view name, const Values&... values) {
    return sqlite_query{*this, prepare(name), values...};
  }
  // Statements without parameters and rows: transaction control and pragmas.
  void execute(const char* sql);
  // Runs a file of statements. The file may change how SQLite waits for locks, so rowlock's own way is
  // restored.
  void execute_script(const std::string& sql);

  // Only outside of a transaction. durable: a commit is on disk when it returns; asynchronous: it is on disk
  // with the next durable commit.
  void set_durability(durability how);
  // Begins a transaction that has the write lock. Returns false if others have kept the lock for wait_limit,
  // or for the connection's timeout if that is shorter.
  bool take_write_lock(std::chrono::milliseconds wait_limit);
  // Turns on write-ahead logging, with which readers and the writer do not block each other. The file keeps it.
  void use_wal();

  // Any thread. Ends a running statement and the wait for the write lock. The connection is useless afterwards.
  void interrupt() noexcept;
  bool interrupted() const noexcept { return interrupted_; }
  void throw_if_interrupted() const;
  // Throws error(unreachable) if the file was opened as a quiet one and somebody has written to it since.
  // Then the rows that were read last may be inconsistent.
  void throw_if_written() const;

  [[noreturn]] void fail(int code, bool outcome_unknown = false);
  sqlite3* handle() const noexcept { return database_; }
  const std::string& path() const noexcept { return path_; }
  std::chrono::milliseconds timeout() const noexcept { return timeout_; }

 private:
  sqlite3_stmt* prepare(std::string_view name);
  void open(missing_file missing, bool read_only);
  void open_quiet(int flags);
  void open_as(const std::string& name, int flags);
  static int on_busy(void* connection, int attempts);
  // Pauses briefly before the next attempt. Returns false, without a pause, if there must be no next attempt.
  bool wait_for_lock(int attempts, std::chrono::steady_clock::time_point since) const;

  std::string path_;
  std::shared_ptr<const sql_catalog> catalog_;
  const std::chrono::milliseconds timeout_;
  std::chrono::milliseconds wait_limit_;  // for the write lock, in the running statement
  sqlite3* database_ = nullptr;
  std::optional<quiet_sqlite_file> quiet_;  // set if the file is read without locks
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
  durability durability_ = durability::durable;
  std::chrono::steady_clock::time_point busy_since_;
  std::atomic<bool> interrupted_{false};
};

}  // namespace rowlock::store
