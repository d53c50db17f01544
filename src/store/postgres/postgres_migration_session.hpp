// The migrator's verbs: transactional DDL, and an advisory lock that keeps two migrators apart.
#pragma once

#include "store/postgres/postgres_setup.hpp"
#include "store/sql_migration_session.hpp"

namespace rowlock::store {

class postgres_migration_session final : public sql_migration_session {
 public:
  postgres_migration_session(const std::string& url, const store_options& options);

  schema_state state() override;
  void exclusively(const std::function<void()>& work) override;
  void apply(const std::string& sql, const ledger_entry& entry) override;
  void revert(const std::string& sql, int version) override;
  void record(const ledger_entry& entry) override;

 private:
  bool has_ledger() override;
  bool has_table(std::string_view table) override;
  void read(const std::string& statement, const std::function<void(rows&&)>& use) override;
  const std::string& prefix() const override { return context_.options.prefix; }
  void write_entry(const ledger_entry& entry);
  // One transaction with its own lock, because behind a pooler no session keeps a lock.
  void together(const std::function<void()>& work);
  void run(const std::string& what, const std::string& sql, const std::function<void()>& write_ledger);
  void run_once(const std::string& what, const std::string& sql, const std::function<void()>& write_ledger);

  postgres_context context_;
  connect_watch nobody_;
  postgres_opened opened_;
  postgres_connection& connection_ = *opened_.connection;
  bool together_ = false;  // inside the transaction of together()
};

}  // namespace rowlock::store
