#include "store/registry.hpp"

// registry.hpp says what this symbol is for.
extern "C" {
ROWLOCK_FOR_STORES extern const char rowlock_store_mysql;
[[gnu::used]] const char rowlock_store_mysql = 0;
}

namespace rowlock::store {

namespace {

constexpr linked_store this_store{"mysql",           &open_mysql,   &open_mysql_for_migration,
                                  &read_mysql_facts, &mysql_checks, &embedded::mysql_migrations,
                                  &mysql_guard};

[[gnu::constructor(before_static_objects)]] void add_this_store() noexcept {
  add_store(this_store);
}

}  // namespace

}  // namespace rowlock::store
