// The migrator's verbs: transactional DDL, and an advisory lock that keeps two migrators apart.
#pragma once

#include "store/migration_session.hpp"
#include "store/postgres/postgres_setup.hpp"

namespace rowlock::store {

class postgres_migration_session final : public migration_session {
 public:
  postgres_migration_session(const std::string& url, const store_options& options);

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
  bool has_table(std::string_view table);
  void write_entry(const ledger_entry& entry);
  // One transaction with its own lock: behind a pooler no session keeps one.
  void together(const std::function<void()>& work);
  void run(const std::string& what, const std::string& sql, const std::function<void()>& write_ledger);

  postgres_context context_;
  connect_watch nobody_;
  postgres_opened opened_;
  postgres_connection& connection_ = *opened_.connection;
  bool together_ = false;  // inside the transaction of together()
};

}  // namespace rowlock::store
