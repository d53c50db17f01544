// Opens the database that a URL names, with the store that is linked for it (registry.hpp).
#pragma once

#include "store/check.hpp"
#include "store/migration_session.hpp"
#include "store/store.hpp"

#include <rowlock/options.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

// The client's options that concern the database and its connections.
store_options to_store_options(const options& settings);

// Throws error(invalid_argument) for an invalid URL, prefix or schema, or if the store is not linked.
std::unique_ptr<database> open(const std::string& url, const store_options& options);

// A connection for the migrator: it does not need a migrated schema. Creates a missing SQLite file.
std::unique_ptr<migration_session> open_for_migration(const std::string& url, const store_options& options);

// The facts of the server that the URL names. Only reads. It needs no migrated schema, and accepts servers
// that open() refuses. Throws as open_for_migration, except that a missing SQLite file counts as a missing
// schema.
server_facts read_facts(const std::string& url, const store_options& options);
// The checks of all stores and those of the dialect, to judge such facts.
std::vector<check> checks_of(std::string_view dialect);

// "postgres", "mysql", "sqlite": the dialect that a URL's scheme names. Throws as open does.
std::string dialect_of(std::string_view url);

}  // namespace rowlock::store
