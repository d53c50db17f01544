// The migrator's verbs: transactional DDL, and an advisory lock that keeps two migrators apart.
#pragma once

#include "store/postgres/postgres_setup.hpp"
#include "store/sql_migration_session.hpp"

namespace rowlock::store {

class postgres_migration_session final : public sql_migration_session {
 public:
  postgres_migration_session(const std::string& url, const store_options& options);

  void exclusively(const std::function<void()>& work) override;
  // Statements find a table along the search_path, and a file makes one in its first schema.
  void check_place() override;

 private:
  void read(const std::string& statement, sql_values values, const rows_reader& use) override;
  void write(const std::string& statement, sql_values values) override;
  void run(const std::string& what, const std::string& sql,
           const std::function<void()>& write_ledger) override;
  const std::string& prefix() const override { return context_.options.prefix; }
  // Does the work in one transaction that has the migrator's lock: behind a pooler no session keeps one.
  void together(const std::function<void()>& work);
  void run_once(const std::string& what, const std::string& sql, const std::function<void()>& write_ledger);

  postgres_context context_;
  connect_watch nobody_;
  postgres_opened opened_;
  postgres_connection& connection_ = *opened_.connection;
  bool together_ = false;  // inside the transaction of together()
};

}  // namespace rowlock::store
