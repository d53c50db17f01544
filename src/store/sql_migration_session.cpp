#include "store/sql_migration_session.hpp"

#include "store/decode.hpp"

#include <rowlock/error.hpp>

#include <utility>

namespace rowlock::store {

namespace {

constexpr int tries_at_most = 20;

}  // namespace

std::vector<ledger_entry> sql_migration_session::ledger() {
  std::vector<ledger_entry> entries;
  if (has_ledger()) read("read_ledger", [&](rows&& found) { entries = read_ledger(std::move(found)); });
  return entries;
}

std::int64_t sql_migration_session::leases() {
  std::int64_t count = 0;
  if (!has_table("lease")) return count;
  read("live_leases", [&](rows&& found) {
    if (found.next()) count = found.integer(0);
  });
  return count;
}

std::vector<std::string> sql_migration_session::describe() {
  std::vector<std::string> lines;
  read("describe", [&](rows&& found) { lines = read_columns(std::move(found), prefix()); });
  return lines;
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
