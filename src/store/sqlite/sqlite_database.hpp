// The SQLite store: one file, one writer at a time, every client on one host.
#pragma once

#include "store/migration_session.hpp"
#include "store/store.hpp"

#include <memory>
#include <string>

namespace rowlock::store {

// url_or_path: "sqlite:" and a path, or the path alone. A relative path is resolved now, so that sessions
// opened after a chdir() find the same file. Nothing is opened before connect(); connect() never creates the
// file.
std::unique_ptr<database> open_sqlite(const std::string& url_or_path, const store_options& options);

// Creates the file when it is missing.
std::unique_ptr<migration_session> open_sqlite_for_migration(const std::string& url_or_path,
                                                             const store_options& options);

}  // namespace rowlock::store
