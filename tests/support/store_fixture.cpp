#include "support/store_fixture.hpp"

#include "support/stores.hpp"

#include <stdexcept>

namespace rowlock::test {

std::string_view to_string(capability what) {
  switch (what) {
    case capability::row_locks: return "row_locks";
    case capability::targeted_wakeups: return "targeted_wakeups";
    case capability::short_cuts: return "short_cuts";
    case capability::backends: return "backends";
    case capability::enqueue_beside_guard: return "enqueue_beside_guard";
  }
  return "unknown";
}

std::unique_ptr<store_fixture> make_store_fixture(const std::string& name) {
  if (name == "memory") return make_memory_fixture();
#ifdef ROWLOCK_TEST_SQLITE
  if (name == "sqlite") return make_sqlite_fixture();
#endif
#ifdef ROWLOCK_TEST_POSTGRES
  if (name == "postgres") return make_postgres_fixture();
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (has_mysql_dialect(name)) return make_mysql_fixture(name);
#endif
  throw std::runtime_error("the store \"" + name + "\" is not built in; leave it out with --stores=");
}

std::unique_ptr<store_fixture> borrow_store_fixture(const std::string& name) {
#ifdef ROWLOCK_TEST_POSTGRES
  if (name == "postgres") return borrow_postgres_fixture();
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (has_mysql_dialect(name)) return borrow_mysql_fixture(name);
#endif
  return make_store_fixture(name);
}

}  // namespace rowlock::test
