// A guarded write through SQLite's own interface.
#include <rowlock/guard/sqlite3.hpp>

bool write_guarded(sqlite3* connection, const rowlock::hold& hold) {
  const auto run = [&](const char* sql) {
    return sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  if (!run("BEGIN IMMEDIATE")) return false;
  rowlock::guard(connection, hold);
  return run("UPDATE balance SET amount = 0; COMMIT");
}
