// The migrator's verbs. MySQL's DDL commits by itself: a file can be run again from its beginning, and a lock
// of the server keeps two migrators apart.
#pragma once

#include "store/mysql/mysql_setup.hpp"
#include "store/sql_migration_session.hpp"

namespace rowlock::store {

class mysql_migration_session final : public sql_migration_session {
 public:
  mysql_migration_session(const std::string& url, const store_options& options);

  schema_state state() override;
  bool commits_by_statement() const override { return true; }
  // The rival may be at work on another node of a Galera cluster.
  bool may_be_a_rivals_doing(const error& failure) const override;
  void apply(const std::string& sql, const ledger_entry& entry) override;
  // Percona XtraDB Cluster in its strict mode, which is its default, refuses GET_LOCK.
  static bool refuses_get_lock(const error& refusal);

 private:
  void read(const std::string& statement, sql_values values, const rows_reader& use) override;
  void write(const std::string& statement, sql_values values) override;
  void run(const std::string& what, const std::string& sql,
           const std::function<void()>& write_ledger) override;
  const std::string& prefix() const override { return context_.options.prefix; }
  bool lacks_locks(const error& refusal) const override { return refuses_get_lock(refusal); }
  static mysql_values texts(sql_values values);
  void run_file(const std::string& what, const std::string& sql);

  mysql_context context_;
  connect_watch nobody_;
  mysql_opened opened_;
  mysql_connection& connection_ = *opened_.connection;
};

}  // namespace rowlock::store
