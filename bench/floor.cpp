#include "bench/floor.hpp"

#include <stdexcept>

namespace rowlock::bench {

void require_one_row(std::int64_t rows) {
  if (rows == 1) return;
  throw std::runtime_error("the bench's own table lost a row; does another bench run on this database?");
}

bool is_sqlite(const plan& plan) {
  return plan.url.starts_with("sqlite:");
}

bool is_mysql(const plan& plan) {
  return plan.url.starts_with("mysql:") || plan.url.starts_with("mariadb:");
}

std::unique_ptr<floor_database> open_floor(const plan& plan) {
#ifdef ROWLOCK_HAS_SQLITE
  if (is_sqlite(plan)) return open_sqlite_floor(plan);
#endif
#ifdef ROWLOCK_HAS_MYSQL
  if (is_mysql(plan)) return open_mysql_floor(plan);
#endif
#ifdef ROWLOCK_HAS_POSTGRES
  if (!is_sqlite(plan) && !is_mysql(plan)) return open_postgres_floor(plan);
#endif
  throw rowlock::error(rowlock::errc::invalid_argument,
                       "the database of this URL was not built in, so there is no floor to measure");
}

}  // namespace rowlock::bench
