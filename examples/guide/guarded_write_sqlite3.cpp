#include <rowlock/guard/sqlite3.hpp>
#include <rowlock/rowlock.hpp>

#include <stdexcept>
#include <string>

void run(sqlite3* connection, const std::string& sql) {
  if (sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(connection));
  }
}

void withdraw(sqlite3* connection, const rowlock::hold& account, int amount) {
  run(connection, "BEGIN IMMEDIATE");
  try {
    rowlock::guard(connection, account);  // throws error(hold_lost); then nothing is written
    run(connection, "UPDATE account SET balance = balance - " + std::to_string(amount));
    run(connection, "COMMIT");
  } catch (...) {
    sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}
