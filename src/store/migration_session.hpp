// What the migrator needs of a database.
#pragma once

#include "model/for_stores.hpp"

#include <rowlock/error.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

struct schema_state {
  int version = 0;      // meta.schema_version; 0: rowlock's tables are not there
  int min_library = 0;  // a library that knows only lower schema versions must not run
};

struct ledger_entry {
  int version = 0;
  std::string title;
  std::string checksum;    // sha-256 of the shipped file, hex
  std::string applied_at;  // UTC, ISO 8601
};

class ROWLOCK_FOR_STORES migration_session {
 public:
  migration_session() = default;
  migration_session(const migration_session&) = delete;
  migration_session& operator=(const migration_session&) = delete;
  virtual ~migration_session() = default;

  virtual schema_state state() = 0;
  virtual bool has_ledger() = 0;
  virtual std::vector<ledger_entry> ledger() = 0;  // by version; empty if there is no ledger
  virtual std::int64_t leases() = 0;               // how many are unexpired, by the database's clock
  // Runs work while no other migrator can run any with the same prefix and schema; first waits for a migrator
  // that does. If the server rolls all of the work back to end a deadlock, work runs again.
  virtual void exclusively(const std::function<void()>& work) = 0;
  // True if DDL commits by itself, so a file that was interrupted stays half done.
  virtual bool commits_by_statement() const { return false; }
  // Whether a file may have failed because another migrator, whom exclusively() does not keep apart, was
  // applying or reverting files at that moment. False means that none was.
  virtual bool may_be_a_rivals_doing(const error& failure) const {
    static_cast<void>(failure);
    return false;
  }
  // Throws error(schema) if a file would make its tables in another place than the one in which rowlock's tables are
  // found.
  virtual void check_place() {}
  // Runs a file in which the prefix is already replaced, and then writes or removes its ledger entry. Both
  // are one transaction if the dialect's DDL is transactional. A missing ledger table is created.
  virtual void apply(const std::string& sql, const ledger_entry& entry) = 0;
  virtual void revert(const std::string& sql, int version) = 0;
  virtual void record(const ledger_entry& entry) = 0;  // writes the entry and runs no file
  // Describes rowlock's tables in lines "table.column type [not null]", sorted. The tables have the prefix of
  // the files (rowlock_) there.
  virtual std::vector<std::string> describe() = 0;
};

}  // namespace rowlock::store
