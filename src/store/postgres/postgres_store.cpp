#include "store/registry.hpp"

// registry.hpp says what this symbol is for.
extern "C" {
ROWLOCK_FOR_STORES extern const char rowlock_store_postgres;
[[gnu::used]] const char rowlock_store_postgres = 0;
}

namespace rowlock::store {

namespace {

constexpr linked_store this_store{"postgres",           &open_postgres,   &open_postgres_for_migration,
                                  &read_postgres_facts, &postgres_checks, &embedded::postgres_migrations,
                                  &postgres_guard};

[[gnu::constructor(before_static_objects)]] void add_this_store() noexcept {
  add_store(this_store);
}

}  // namespace

}  // namespace rowlock::store
