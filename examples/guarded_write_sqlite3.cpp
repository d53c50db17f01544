// Withdraws money from an account, but only while the account's lock is held.
//
//   guarded_write_sqlite3 shop.db        (after `rowlock --url sqlite:shop.db migrate up`)
#include <rowlock/guard/sqlite3.hpp>
#include <rowlock/rowlock.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

void run(sqlite3* connection, const char* sql) {
  if (sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(connection));
  }
}

void withdraw(sqlite3* connection, const rowlock::hold& hold) {
  run(connection, "BEGIN IMMEDIATE");
  try {
    // If the guard succeeds, the lock is held, even if this process was stopped for a long time before; and nobody else
    // is granted the lock before the transaction ends.
    rowlock::guard(connection, hold);
    run(connection, "UPDATE account SET balance = balance - 10 WHERE id = 1");
    run(connection, "COMMIT");
  } catch (...) {
    sqlite3_exec(connection, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 64;
  }
  // Your own connection. rowlock has its own and never touches this one.
  sqlite3* connection = nullptr;
  int status = 70;
  try {
    if (sqlite3_open(argv[1], &connection) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(connection));
    sqlite3_busy_timeout(connection, 5000);
    run(connection, "CREATE TEMPORARY TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)");
    run(connection, "INSERT INTO account VALUES (1, 100)");

    rowlock::client db = rowlock::connect("sqlite:" + std::string{argv[1]});
    rowlock::mutex account_one{db, "account/1"};
    rowlock::hold hold = account_one.acquire();
    withdraw(connection, hold);
    std::printf("withdrawn under token %lld\n", static_cast<long long>(hold.token().value()));
    status = 0;
  } catch (const rowlock::error& error) {
    std::fprintf(stderr, "%s: %s\n", rowlock::to_string(error.kind()), error.what());
    status = error.code() == rowlock::errc::hold_lost ? 76 : 70;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  sqlite3_close(connection);
  return status;
}
