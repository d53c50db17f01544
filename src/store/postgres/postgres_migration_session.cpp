#include "store/postgres/postgres_migration_session.hpp"

#include <fmt/format.h>

namespace rowlock::store {

namespace {

constexpr std::string_view deadlock = "40P01";

}  // namespace

// Statements have no time limit, because one of them waits for another migrator. The files set their own
// limit for locks.
postgres_migration_session::postgres_migration_session(const std::string& url, const store_options& options)
    : context_{url, options}, opened_{open_connection(context_, std::chrono::milliseconds{0}, nobody_)} {}

bool postgres_migration_session::has_ledger() {
  auto found = connection_.call_once("has_ledger", prefix() + "migration");
  return found.next() && found.boolean(0);
}

bool postgres_migration_session::has_table(std::string_view table) {
  auto found = connection_.call_once("has_table", prefix() + std::string{table});
  return found.next() && found.boolean(0);
}

void postgres_migration_session::read(const std::string& statement, const std::function<void(rows&&)>& use) {
  use(connection_.call_once(statement));
}

schema_state postgres_migration_session::state() {
  return read_schema_state(connection_, has_table("meta"));
}

void postgres_migration_session::exclusively(const std::function<void()>& work) {
  if (connection_.is_pooled()) return despite_deadlocks(deadlock, [&] { together(work); });
  const auto& prefix = context_.options.prefix;
  connection_.call_once("migrate_take", prefix);
  try {
    work();
  } catch (...) {
    try {
      connection_.call_once("migrate_give", prefix);
    } catch (const error&) {
      // The lock ends with the connection; the error of work() matters more.
    }
    throw;
  }
  connection_.call_once("migrate_give", prefix);
}

void postgres_migration_session::together(const std::function<void()>& work) {
  try {
    connection_.script("migrate_take", connection_.begin() + connection_.execute("migrate_take_transaction",
                                                                                 context_.options.prefix));
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
    connection_.script(
        what, (together_ ? "" : connection_.begin()) + context_.catalog["create_ledger"] + ";\n" + sql);
    write_ledger();
    if (!together_) connection_.script(what, "COMMIT");
  } catch (const error&) {
    if (!together_) connection_.rollback();
    throw;
  }
}

void postgres_migration_session::write_entry(const ledger_entry& entry) {
  connection_.call_once("record", entry.version, entry.title, entry.checksum);
}

void postgres_migration_session::apply(const std::string& sql, const ledger_entry& entry) {
  run(fmt::format("migration {} {}", entry.version, entry.title), sql, [&] { write_entry(entry); });
}

void postgres_migration_session::revert(const std::string& sql, int version) {
  run(fmt::format("the reversal of migration {}", version), sql,
      [&] { connection_.call_once("forget", version); });
}

void postgres_migration_session::record(const ledger_entry& entry) {
  run("the ledger", "", [&] { write_entry(entry); });
}

}  // namespace rowlock::store
