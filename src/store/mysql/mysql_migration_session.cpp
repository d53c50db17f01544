#include "store/mysql/mysql_migration_session.hpp"

#include "store/mysql/mysql_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rowlock::store {

namespace {

constexpr std::string_view was_undone = "1213";
constexpr std::string_view memory_engine = "ENGINE = MEMORY";

// Refused by enforce_storage_engine, disabled_storage_engines, or a cluster's strict mode.
bool is_refused_engine(std::string_view code) {
  return code == "1286" || code == "1290" || code == "3161" || code == "4165";
}

}  // namespace

// Statements have no time limit, because one of them waits for another migrator. The files set their own
// limit for locks.
mysql_migration_session::mysql_migration_session(const std::string& url, const store_options& options)
    : context_{url, options}, opened_{open_connection(context_, std::chrono::milliseconds{0}, nobody_)} {}

bool mysql_migration_session::has_table(std::string_view table) {
  return store::has_table(connection_, prefix() + std::string{table});
}

void mysql_migration_session::read(const std::string& statement, const std::function<void(rows&&)>& use) {
  use(connection_.read(statement));
}

schema_state mysql_migration_session::state() {
  return read_schema_state(connection_);
}

void mysql_migration_session::exclusively(const std::function<void()>& work) {
  const mysql_value prefix{"prefix", context_.options.prefix};
  if (auto taken = connection_.read("migrate_take", {prefix}); !taken.next() || !taken.boolean(0)) {
    throw error(errc::contention, "another migrator has been at work for a year");
  }
  try {
    work();
  } catch (...) {
    try {
      connection_.read("migrate_give", {prefix});
    } catch (const error&) {
      // The lock ends with the connection; the error of work() matters more.
    }
    throw;
  }
  connection_.read("migrate_give", {prefix});
}

bool mysql_migration_session::may_be_a_rivals_doing(const error& failure) const {
  static constexpr std::array<std::string_view, 6> codes = {
      "1050",  // the table is there
      "1060",  // the column is there
      "1061",  // the index is there
      "1062",  // the row is there
      "1091",  // there is no such column or index to drop
      was_undone,  // the cluster has given way to the other node's statement, or the server to another transaction
  };
  return std::ranges::find(codes, failure.database_code()) != codes.end();
}

void mysql_migration_session::run(const std::string& what, const std::string& sql) {
  for (auto statement : split_statements(sql)) {
    try {
      despite_deadlocks(was_undone, [&] { connection_.execute(what, statement); });
    } catch (const error& failure) {
      // An InnoDB table together with the time of the server's start is as good a marker.
      const auto engine = statement.find(memory_engine);
      if (engine == std::string::npos || !is_refused_engine(failure.database_code())) throw;
      connection_.execute(what, statement.replace(engine, memory_engine.size(), "ENGINE = InnoDB"));
    }
  }
}

void mysql_migration_session::record(const ledger_entry& entry) {
  connection_.write("create_ledger");
  connection_.write("record",
                    {{"version", entry.version}, {"title", entry.title}, {"checksum", entry.checksum}});
}

void mysql_migration_session::forget(int version) {
  if (has_ledger()) connection_.write("forget", {{"version", version}});
}

// The ledger is written first: an entry above meta's version shows that a migration was interrupted, while a
// version without its entry would look like the work of another tool.
void mysql_migration_session::apply(const std::string& sql, const ledger_entry& entry) {
  record(entry);
  try {
    run(fmt::format("migration {} {}", entry.version, entry.title), sql);
  } catch (const error& problem) {
    if (problem.code() != errc::unreachable) forget(entry.version);
    throw;
  }
}

void mysql_migration_session::revert(const std::string& sql, int version) {
  run(fmt::format("the reversal of migration {}", version), sql);
  forget(version);
}

}  // namespace rowlock::store
