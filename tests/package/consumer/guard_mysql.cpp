// Guarded writes through the drivers of MariaDB and MySQL.
#include <rowlock/guard/mysql.hpp>
#include <rowlock/guard/soci.hpp>

void write_guarded(soci::session& sql, const rowlock::hold& hold) {
  soci::transaction transaction{sql};
  rowlock::guard(sql, hold);
  sql << "UPDATE balance SET amount = 0";
  transaction.commit();
}

bool write_guarded(MYSQL* connection, const rowlock::hold& hold) {
  if (mysql_query(connection, "START TRANSACTION") != 0) return false;
  rowlock::guard(connection, hold);
  return mysql_query(connection, "UPDATE balance SET amount = 0") == 0 &&
         mysql_query(connection, "COMMIT") == 0;
}
