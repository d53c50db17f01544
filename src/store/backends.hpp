// Opens each database's sessions.
#pragma once

#include "store/migration_session.hpp"
#include "store/server_facts.hpp"
#include "store/store.hpp"

#include <memory>
#include <string>

namespace rowlock::store {

// These do not connect yet. They throw error(invalid_argument) for a URL that is wrong. PostgreSQL's URL is
// as libpq takes it; MySQL's is mysql://… or mariadb://…, see mysql_endpoint.
std::unique_ptr<database> open_postgres(const std::string& url, const store_options& options);
std::unique_ptr<database> open_mysql(const std::string& url, const store_options& options);
// "sqlite:" and a path, or the path alone. A relative path is resolved now, so that sessions that are opened
// after a chdir() find the same file. connect() never creates the file.
std::unique_ptr<database> open_sqlite(const std::string& url_or_path, const store_options& options);

// These connect. They throw as database::connect() does, except not_migrated and too_new. The last one
// creates a missing file.
std::unique_ptr<migration_session> open_postgres_for_migration(const std::string& url,
                                                               const store_options& options);
std::unique_ptr<migration_session> open_mysql_for_migration(const std::string& url,
                                                            const store_options& options);
std::unique_ptr<migration_session> open_sqlite_for_migration(const std::string& url_or_path,
                                                             const store_options& options);

// What database::guard_sql() and database::guard_write_sql() return, for a database to which nobody has connected.
// clustered: a Galera cluster, or a group with several primaries.
struct guard_texts {
  std::string sql;
  std::string write{};
};
guard_texts postgres_guard(const store_options& options, model::lock_mode mode, bool clustered);
guard_texts mysql_guard(const store_options& options, model::lock_mode mode, bool clustered);
guard_texts sqlite_guard(const store_options& options, model::lock_mode mode, bool clustered);

// These connect, read the facts that the store's checks judge, and disconnect. They throw as the functions
// above, also for a missing database. A missing SQLite file counts as a missing schema.
server_facts read_postgres_facts(const std::string& url, const store_options& options);
server_facts read_mysql_facts(const std::string& url, const store_options& options);
server_facts read_sqlite_facts(const std::string& url_or_path, const store_options& options);

}  // namespace rowlock::store
