// Guarded writes through the drivers of PostgreSQL.
#include <rowlock/guard/libpq.hpp>
#include <rowlock/guard/pqxx.hpp>

void write_guarded(pqxx::connection& connection, const rowlock::hold& hold) {
  pqxx::work transaction{connection};
  rowlock::guard(transaction, hold);
  transaction.exec("UPDATE balance SET amount = 0");
  transaction.commit();
}

void write_guarded(PGconn* connection, const rowlock::hold& hold) {
  PQclear(PQexec(connection, "BEGIN"));
  rowlock::guard(connection, hold);
  PQclear(PQexec(connection, "UPDATE balance SET amount = 0; COMMIT"));
}
