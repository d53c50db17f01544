#include "store/sql_migration_session.hpp"

#include "store/decode.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace rowlock::store {

namespace {

constexpr int tries_at_most = 20;

}  // namespace

bool sql_migration_session::is_true(const std::string& statement, sql_values values) {
  bool answer = false;
  read(statement, values, [&](rows&& found) { answer = found.next() && found.boolean(0); });
  return answer;
}

bool sql_migration_session::finds_table(const std::string& statement, std::string_view table) {
  return is_true(statement, {{"table", prefix() + std::string{table}}});
}

schema_state sql_migration_session::state() {
  schema_state found;
  if (!finds_table("has_table", "meta")) return found;
  read("schema_state", {}, [&](rows&& row) { found = read_schema_state(std::move(row)); });
  return found;
}

std::vector<ledger_entry> sql_migration_session::ledger() {
  std::vector<ledger_entry> entries;
  if (has_ledger()) read("read_ledger", {}, [&](rows&& found) { entries = read_ledger(std::move(found)); });
  return entries;
}

std::int64_t sql_migration_session::leases() {
  std::int64_t count = 0;
  if (!finds_table("has_table", "lease")) return count;
  read("live_leases", {}, [&](rows&& found) {
    if (found.next()) count = found.integer(0);
  });
  return count;
}

std::vector<std::string> sql_migration_session::describe() {
  std::vector<std::string> lines;
  read("describe", {}, [&](rows&& found) { lines = read_columns(std::move(found), prefix()); });
  return lines;
}

bool sql_migration_session::take_lock() {
  try {
    if (is_true("migrate_take", {{"prefix", prefix()}})) return true;
  } catch (const error& problem) {
    if (lacks_locks(problem)) return false;
    throw;
  }
  throw error(errc::contention, "another migrator has been at work for a year");
}

void sql_migration_session::exclusively(const std::function<void()>& work) {
  if (!take_lock()) return work();
  try {
    work();
  } catch (...) {
    try {
      is_true("migrate_give", {{"prefix", prefix()}});
    } catch (const error&) {
      // The lock ends with the connection; the error of work() matters more.
    }
    throw;
  }
  is_true("migrate_give", {{"prefix", prefix()}});
}

std::string sql_migration_session::title_of(const ledger_entry& entry) {
  return fmt::format("migration {} {}", entry.version, entry.title);
}

void sql_migration_session::apply(const std::string& sql, const ledger_entry& entry) {
  run(title_of(entry), sql, [&] { write_entry(entry); });
}

void sql_migration_session::revert(const std::string& sql, int version) {
  run(fmt::format("the reversal of migration {}", version), sql, [&] { forget(version); });
}

void sql_migration_session::record(const ledger_entry& entry) {
  run("the ledger", "", [&] { write_entry(entry); });
}

void sql_migration_session::write_entry(const ledger_entry& entry) {
  write("create_ledger", {});
  write("record", {{"version", entry.version}, {"title", entry.title}, {"checksum", entry.checksum}});
}

void sql_migration_session::forget(int version) {
  if (has_ledger()) write("forget", {{"version", version}});
}

void sql_migration_session::despite_deadlocks(std::string_view deadlock, const std::function<void()>& work) {
  for (int tries = 1;; ++tries) {
    try {
      return work();
    } catch (const error& problem) {
      if (problem.database_code() != deadlock || tries == tries_at_most) throw;
    }
  }
}

}  // namespace rowlock::store
