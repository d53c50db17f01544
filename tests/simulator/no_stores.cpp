// For programs of the tests that open no URL, and are linked without the real stores: those would bring threads, sockets
// and clocks that the simulator does not rule.
#include "store/backends.hpp"
#include "store/check.hpp"

#include <stdexcept>

namespace rowlock::store {

namespace {

[[noreturn]] void refuse() {
  throw std::logic_error("this program opens no URL");
}

}  // namespace

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
server_facts read_postgres_facts(const std::string&, const store_options&) {
  refuse();
}
server_facts read_mysql_facts(const std::string&, const store_options&) {
  refuse();
}
server_facts read_sqlite_facts(const std::string&, const store_options&) {
  refuse();
}
std::span<const check> postgres_checks() {
  refuse();
}
std::span<const check> mysql_checks() {
  refuse();
}
std::span<const check> sqlite_checks() {
  refuse();
}

}  // namespace rowlock::store
