// The verbs of the migrator, for all SQL dialects. A dialect's session runs the statements, and knows whether its DDL
// is transactional.
#pragma once

#include "model/for_stores.hpp"
#include "store/migration_session.hpp"
#include "store/rows.hpp"
#include "store/sql_value.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

class ROWLOCK_FOR_STORES sql_migration_session : public migration_session {
 public:
  schema_state state() override;
  bool has_ledger() final { return finds_table("has_ledger", "migration"); }
  std::vector<ledger_entry> ledger() final;
  std::int64_t leases() final;
  // Runs the statement migrate_take, which takes a lock that the server keeps for this session.
  void exclusively(const std::function<void()>& work) override;
  void apply(const std::string& sql, const ledger_entry& entry) override;
  void revert(const std::string& sql, int version) final;
  void record(const ledger_entry& entry) final;
  std::vector<std::string> describe() final;

 protected:
  // Runs a statement and passes its rows to `use`. Does nothing if there is no database yet.
  virtual void read(const std::string& statement, sql_values values, const rows_reader& use) = 0;
  virtual void write(const std::string& statement, sql_values values) = 0;
  // Runs the statements of a file, and then write_ledger; as one transaction if the dialect's DDL is
  // transactional. what: how messages name the file, see is_of_migration.
  virtual void run(const std::string& what, const std::string& sql,
                   const std::function<void()>& write_ledger) = 0;
  virtual const std::string& prefix() const = 0;

  // Whether the server lets nobody take the lock of exclusively(). Then the work runs without it, as on two nodes of a
  // cluster, which do not share such locks.
  virtual bool lacks_locks(const error& refusal) const {
    static_cast<void>(refusal);
    return false;
  }
  // What messages call the file.
  static std::string title_of(const ledger_entry& entry);
  void forget(int version);

  // Runs the work. If the server rolls it back to end a deadlock with clients at work, runs it again, up to a
  // limit. deadlock: the code of the error that the server reports then.
  static void despite_deadlocks(std::string_view deadlock, const std::function<void()>& work);

 private:
  void write_entry(const ledger_entry& entry);
  bool take_lock();  // false: this server lacks such locks
  // Whether has_table or has_ledger finds the table, whose name is given without the prefix.
  bool finds_table(const std::string& statement, std::string_view table);
  // Whether the statement returns true.
  bool is_true(const std::string& statement, sql_values values);
};

}  // namespace rowlock::store
