#include <rowlock/guard/pqxx.hpp>
#include <rowlock/rowlock.hpp>

#include <string>

// Your own connection and transaction; rowlock has its own.
void withdraw(pqxx::connection& connection, const rowlock::hold& account, int amount) {
  pqxx::work transaction{connection};
  rowlock::guard(transaction, account);  // throws error(hold_lost); then nothing is written
  transaction.exec("UPDATE account SET balance = balance - " + std::to_string(amount));
  transaction.commit();
}
