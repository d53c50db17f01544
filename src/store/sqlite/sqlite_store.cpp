#include "store/registry.hpp"

// registry.hpp says what this symbol is for.
extern "C" {
ROWLOCK_FOR_STORES extern const char rowlock_store_sqlite;
[[gnu::used]] const char rowlock_store_sqlite = 0;
}

namespace rowlock::store {

namespace {

constexpr linked_store this_store{"sqlite",           &open_sqlite,   &open_sqlite_for_migration,
                                  &read_sqlite_facts, &sqlite_checks, &embedded::sqlite_migrations,
                                  &sqlite_guard};

[[gnu::constructor(before_static_objects)]] void add_this_store() noexcept {
  add_store(this_store);
}

}  // namespace

}  // namespace rowlock::store
