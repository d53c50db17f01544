// What the parsers' neighbours need to be linked. The fuzz targets never connect.
#include "store/backends.hpp"
#include "store/migration_session.hpp"
#include "store/store.hpp"

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <stdexcept>

namespace {

[[noreturn]] void refuse() {
  throw std::logic_error("a fuzz target connects");
}

}  // namespace

ROWLOCK_BEGIN_NAMESPACE

client connect(const std::string&, const options&) {
  refuse();
}

ROWLOCK_END_NAMESPACE

namespace rowlock::store {

std::unique_ptr<database> open_postgres(const std::string&, const store_options&) {
  refuse();
}
std::unique_ptr<database> open_mysql(const std::string&, const store_options&) {
  refuse();
}
std::unique_ptr<database> open_sqlite(const std::string&, const store_options&) {
  refuse();
}
std::unique_ptr<migration_session> open_postgres_for_migration(const std::string&, const store_options&) {
  refuse();
}
std::unique_ptr<migration_session> open_mysql_for_migration(const std::string&, const store_options&) {
  refuse();
}
std::unique_ptr<migration_session> open_sqlite_for_migration(const std::string&, const store_options&) {
  refuse();
}

}  // namespace rowlock::store
