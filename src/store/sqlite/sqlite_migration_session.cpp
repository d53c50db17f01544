#include "store/sqlite/sqlite_migration_session.hpp"

#include "store/sqlite/sqlite_transaction.hpp"

#include <filesystem>
#include <utility>

namespace rowlock::store {

sqlite_migration_session::sqlite_migration_session(const std::string& path, const store_options& options)
    : path_{path},
      prefix_{options.prefix},
      timeout_{options.statement_timeout},
      read_only_{options.read_only} {
  check_sqlite_file(path, missing_file::create, read_only_);
  if (std::filesystem::exists(path)) open();
}

void sqlite_migration_session::open() {
  if (has_file()) return;
  auto catalog = std::make_shared<const sql_catalog>(embedded::sqlite_queries(), prefix_);
  connection_ = std::make_unique<sqlite_connection>(path_, std::move(catalog), timeout_, missing_file::create,
                                                    read_only_);
  // A file copies a table, drops it and gives the copy its name. Otherwise SQLite would check every view and trigger of
  // the database at that moment, and refuse the new name if one of them is broken, or names the table.
  connection_->execute("PRAGMA legacy_alter_table = ON");
}

void sqlite_migration_session::read(const std::string& statement, sql_values values, const rows_reader& use) {
  if (has_file()) use(connection_->query(statement, values));
}

void sqlite_migration_session::write(const std::string& statement, sql_values values) {
  connection_->query(statement, values).run();
}

// The file's write lock excludes other migrators and all clients. So clients see all of the migrations or
// none.
void sqlite_migration_session::exclusively(const std::function<void()>& work) {
  open();
  connection_->use_wal();
  sqlite_transaction transaction{*connection_, durability::durable};
  work();
  transaction.commit();
}

void sqlite_migration_session::atomically(const std::function<void()>& work) {
  open();
  if (sqlite3_get_autocommit(connection_->handle()) != 0) {
    exclusively(work);
    return;
  }
  connection_->execute("SAVEPOINT migration");
  try {
    work();
  } catch (...) {
    sqlite3_exec(connection_->handle(), "ROLLBACK TO migration; RELEASE migration", nullptr, nullptr,
                 nullptr);
    throw;
  }
  connection_->execute("RELEASE migration");
}

void sqlite_migration_session::run(const std::string&, const std::string& sql,
                                   const std::function<void()>& write_ledger) {
  atomically([&] {
    connection_->execute_script(sql);
    write_ledger();
  });
}

}  // namespace rowlock::store
