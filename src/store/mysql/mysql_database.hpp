// Where MySQL and MariaDB sessions come from.
#pragma once

#include "store/migration_session.hpp"
#include "store/store.hpp"

#include <memory>
#include <string>

namespace rowlock::store {

// url: mysql://… or mariadb://…, see mysql_endpoint. Connects to nothing yet. Throws error(invalid_argument).
std::unique_ptr<database> open_mysql(const std::string& url, const store_options& options);

// Connects. Throws as database::connect() does, but for not_migrated and too_new.
std::unique_ptr<migration_session> open_mysql_for_migration(const std::string& url,
                                                            const store_options& options);

}  // namespace rowlock::store
