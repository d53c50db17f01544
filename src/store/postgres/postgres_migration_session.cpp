#include "store/postgres/postgres_migration_session.hpp"

namespace rowlock::store {

namespace {

constexpr std::string_view deadlock = "40P01";

}  // namespace

// Statements have no time limit, because one of them waits for another migrator. The files set their own
// limit for locks.
postgres_migration_session::postgres_migration_session(const std::string& url, const store_options& options)
    : context_{url, options}, opened_{open_connection(context_, std::chrono::milliseconds{0}, nobody_)} {}

void postgres_migration_session::read(const std::string& statement, sql_values values,
                                      const rows_reader& use) {
  use(connection_.call_once(statement, values));
}

void postgres_migration_session::write(const std::string& statement, sql_values values) {
  connection_.call_once(statement, values);
}

void postgres_migration_session::exclusively(const std::function<void()>& work) {
  if (connection_.is_pooled()) return despite_deadlocks(deadlock, [&] { together(work); });
  sql_migration_session::exclusively(work);
}

void postgres_migration_session::together(const std::function<void()>& work) {
  try {
    connection_.script("migrate_take",
                       connection_.begin() + connection_.execute("migrate_take_transaction", prefix()));
    together_ = true;
    work();
    connection_.script("migrate_give", "COMMIT");
    together_ = false;
  } catch (...) {
    together_ = false;
    connection_.rollback();
    throw;
  }
}

void postgres_migration_session::run(const std::string& what, const std::string& sql,
                                     const std::function<void()>& write_ledger) {
  if (together_) return run_once(what, sql, write_ledger);
  despite_deadlocks(deadlock, [&] { run_once(what, sql, write_ledger); });
}

// The statements of a file and of the ledger become visible together, or not at all.
void postgres_migration_session::run_once(const std::string& what, const std::string& sql,
                                          const std::function<void()>& write_ledger) {
  try {
    if (const auto script = (together_ ? "" : connection_.begin()) + sql; !script.empty()) {
      connection_.script(what, script);
    }
    write_ledger();
    if (!together_) connection_.script(what, "COMMIT");
  } catch (const error&) {
    if (!together_) connection_.rollback();
    throw;
  }
}

}  // namespace rowlock::store
