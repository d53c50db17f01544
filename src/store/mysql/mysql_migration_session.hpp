// The migrator's verbs. MySQL's DDL commits by itself: a file can be run again from its beginning, and a lock
// of the server keeps two migrators apart.
#pragma once

#include "store/migration_session.hpp"
#include "store/mysql/mysql_setup.hpp"

namespace rowlock::store {

class mysql_migration_session final : public migration_session {
 public:
  mysql_migration_session(const std::string& url, const store_options& options);

  schema_state state() override;
  bool has_ledger() override;
  std::vector<ledger_entry> ledger() override;
  std::int64_t leases() override;
  void exclusively(const std::function<void()>& work) override;
  void apply(const std::string& sql, const ledger_entry& entry) override;
  void revert(const std::string& sql, int version) override;
  void record(const ledger_entry& entry) override;
  std::vector<std::string> describe() override;

 private:
  bool has(std::string_view table);
  void run(const std::string& what, const std::string& sql);
  void forget(int version);

  mysql_context context_;
  connect_watch nobody_;
  mysql_opened opened_;
  mysql_connection& connection_ = *opened_.connection;
};

}  // namespace rowlock::store
