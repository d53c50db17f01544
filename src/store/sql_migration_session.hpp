// The reading verbs of a migration session, for all dialects.
#pragma once

#include "model/for_stores.hpp"
#include "store/migration_session.hpp"
#include "store/rows.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

class ROWLOCK_FOR_STORES sql_migration_session : public migration_session {
 public:
  bool has_ledger() override { return has_table("migration"); }
  std::vector<ledger_entry> ledger() final;
  std::int64_t leases() final;
  std::vector<std::string> describe() final;

 protected:
  // The table's name is without the prefix.
  virtual bool has_table(std::string_view table) = 0;
  // Runs a statement and passes its rows on. Does nothing if there is no database yet.
  virtual void read(const std::string& statement, const std::function<void(rows&&)>& use) = 0;
  virtual const std::string& prefix() const = 0;

  // Runs the work, and again, up to a limit, if the server has undone it to end a deadlock with clients at work.
  // deadlock: the error's code.
  static void despite_deadlocks(std::string_view deadlock, const std::function<void()>& work);
};

}  // namespace rowlock::store
