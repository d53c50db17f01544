#include "store/mysql/mysql_migration_session.hpp"

#include "store/mysql/mysql_script.hpp"

#include <algorithm>
#include <array>

namespace rowlock::store {

namespace {

constexpr std::string_view was_undone = "1213";
constexpr std::string_view memory_engine = "ENGINE = MEMORY";

// Whether enforce_storage_engine, disabled_storage_engines or a cluster's strict mode has refused the engine.
bool is_refused_engine(std::string_view code) {
  return code == "1286" || code == "1290" || code == "3161" || code == "4165";
}

}  // namespace

// Statements have no time limit, because one of them waits for another migrator. The files set their own
// limit for locks.
mysql_migration_session::mysql_migration_session(const std::string& url, const store_options& options)
    : context_{url, options}, opened_{open_connection(context_, std::chrono::milliseconds{0}, nobody_)} {}

// Passes texts in the connection's character set, in which the server compares them with names of its own.
mysql_values mysql_migration_session::texts(sql_values values) {
  mysql_values result;
  for (const auto& [name, given] : values) {
    std::visit(
        [&, called = name](const auto& value) {
          result.push_back({std::string{called}, value});
        },
        given);
  }
  return result;
}

void mysql_migration_session::read(const std::string& statement, sql_values values, const rows_reader& use) {
  use(connection_.read(statement, texts(values)));
}

void mysql_migration_session::write(const std::string& statement, sql_values values) {
  connection_.write(statement, texts(values));
}

schema_state mysql_migration_session::state() {
  return read_schema_state(connection_);
}

bool mysql_migration_session::may_be_a_rivals_doing(const error& failure) const {
  static constexpr std::array<std::string_view, 6> codes = {
      "1050",      // the table is there
      "1060",      // the column is there
      "1061",      // the index is there
      "1062",      // the row is there
      "1091",      // there is no such column or index to drop
      was_undone,  // the cluster or the server has undone the statement in favour of another one
  };
  return std::ranges::find(codes, failure.database_code()) != codes.end();
}

bool mysql_migration_session::refuses_get_lock(const error& refusal) {
  return refusal.database_code() == "1105" &&
         std::string_view{refusal.what()}.find("pxc_strict_mode") != std::string_view::npos;
}

void mysql_migration_session::run_file(const std::string& what, const std::string& sql) {
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

void mysql_migration_session::run(const std::string& what, const std::string& sql,
                                  const std::function<void()>& write_ledger) {
  run_file(what, sql);
  write_ledger();
}

// The ledger is written first: an entry above meta's version shows that a migration was interrupted, while a
// version without its entry would look like the work of another tool.
void mysql_migration_session::apply(const std::string& sql, const ledger_entry& entry) {
  record(entry);
  try {
    run_file(title_of(entry), sql);
  } catch (const error& problem) {
    if (problem.code() != errc::unreachable) forget(entry.version);
    throw;
  }
}

}  // namespace rowlock::store
