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

  schema_state state() override;
  void exclusively(const std::function<void()>& work) override;
  void apply(const std::string& sql, const ledger_entry& entry) override;
  void revert(const std::string& sql, int version) override;
  void record(const ledger_entry& entry) override;

 private:
  void open();
  bool has_file() const noexcept { return !!connection_; }
  bool has_table(std::string_view table) override;
  void read(const std::string& statement, const std::function<void(rows&&)>& use) override;
  const std::string& prefix() const override { return prefix_; }
  // In a transaction, or in a savepoint of the one that exclusively() began.
  void atomically(const std::function<void()>& work);
  void write_entry(const ledger_entry& entry);

  std::string path_;
  std::string prefix_;
  std::chrono::milliseconds timeout_;
  bool read_only_;
  std::unique_ptr<sqlite_connection> connection_;
};

}  // namespace rowlock::store
