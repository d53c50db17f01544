// What the migrator needs of an SQLite file. DDL is transactional here, so a run of migrations is all or
// nothing.
#pragma once

#include "store/sql_migration_session.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/store.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace rowlock::store {

class sqlite_migration_session final : public sql_migration_session {
 public:
  // A missing file counts as empty, and is created by the first write.
  sqlite_migration_session(const std::string& path, const store_options& options);

  void exclusively(const std::function<void()>& work) override;

 private:
  void open();
  bool has_file() const noexcept { return !!connection_; }
  void read(const std::string& statement, sql_values values, const rows_reader& use) override;
  void write(const std::string& statement, sql_values values) override;
  void run(const std::string& what, const std::string& sql,
           const std::function<void()>& write_ledger) override;
  const std::string& prefix() const override { return prefix_; }
  // Runs work in a transaction, or in a savepoint of the transaction that exclusively() has begun.
  void atomically(const std::function<void()>& work);

  std::string path_;
  std::string prefix_;
  std::chrono::milliseconds timeout_;
  bool read_only_;
  std::unique_ptr<sqlite_connection> connection_;
};

}  // namespace rowlock::store
