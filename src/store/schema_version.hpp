// Which version of rowlock's schema this library works with.
#pragma once

#include "model/for_stores.hpp"
#include "store/migration_session.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::store {

// The version that this library needs, and the newest one that it knows.
extern const int library_schema_version;

// The command that creates or updates the tables. `global`: options that the command has before
// --prefix and --schema.
ROWLOCK_FOR_STORES std::string migrate_command(const store_options& options, const std::string& global = {});

// Throws error(not_migrated) or error(too_new) unless this library can work with that schema. where: what the
// message calls the place of the schema.
ROWLOCK_FOR_STORES void check_schema_version(const schema_state& found, const store_options& options,
                                             const std::string& where, const std::string& global = {});

// The error for a table meta that lacks its one row.
error missing_meta_row(const store_options& options, const std::string& global = {});

}  // namespace rowlock::store
