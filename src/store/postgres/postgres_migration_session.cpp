#include "store/postgres/postgres_migration_session.hpp"

#include "store/postgres/postgres_transaction.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <optional>

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

void postgres_migration_session::check_place() {
  const auto meta = prefix() + "meta";
  read("other_place", {{"table", meta}}, [&](rows&& found) {
    if (!found.next()) return;
    throw error(
        errc::schema,
        fmt::format(
            "the table {0} is in the schema \"{1}\", but new tables would be made in \"{2}\", which comes "
            "first in the search_path; name the schema: --schema {1} (options::schema)",
            meta, found.text("found_in"), found.text("made_in")));
  });
}

void postgres_migration_session::exclusively(const std::function<void()>& work) {
  if (connection_.is_pooled()) return despite_deadlocks(deadlock, [&] { together(work); });
  sql_migration_session::exclusively(work);
}

void postgres_migration_session::together(const std::function<void()>& work) {
  postgres_transaction transaction{connection_};
  connection_.script("migrate_take",
                     connection_.begin() + connection_.execute("migrate_take_transaction", prefix()));
  together_ = true;
  try {
    work();
    connection_.script("migrate_give", "COMMIT");
  } catch (...) {
    together_ = false;
    throw;
  }
  together_ = false;
  transaction.is_over();
}

void postgres_migration_session::run(const std::string& what, const std::string& sql,
                                     const std::function<void()>& write_ledger) {
  if (together_) return run_once(what, sql, write_ledger);
  despite_deadlocks(deadlock, [&] { run_once(what, sql, write_ledger); });
}

// The statements of a file and of the ledger become visible together, or not at all.
void postgres_migration_session::run_once(const std::string& what, const std::string& sql,
                                          const std::function<void()>& write_ledger) {
  std::optional<postgres_transaction> transaction;
  if (!together_) transaction.emplace(connection_);
  if (const auto script = (together_ ? "" : connection_.begin()) + sql; !script.empty()) {
    connection_.script(what, script);
  }
  write_ledger();
  if (!transaction) return;
  connection_.script(what, "COMMIT");
  transaction->is_over();
}

}  // namespace rowlock::store
