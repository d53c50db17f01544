#include "store/schema_version.hpp"

#include <fmt/format.h>

namespace rowlock::store {

// From the number of the newest migration (src/store/CMakeLists.txt).
const int library_schema_version = ROWLOCK_SCHEMA_VERSION;

std::string migrate_command(const store_options& options, const std::string& global) {
  std::string command = "rowlock ";
  if (!global.empty()) command += global + ' ';
  if (options.prefix != store_options{}.prefix) command += fmt::format("--prefix {} ", options.prefix);
  if (!options.schema.empty()) command += fmt::format("--schema {} ", options.schema);
  return command + "migrate up";
}

void check_schema_version(const schema_state& found, const store_options& options, const std::string& where,
                          const std::string& global) {
  if (found.version == 0) {
    throw error(errc::not_migrated,
                fmt::format("the tables {}* are not in {}, or this user may not use them; run: {}",
                            options.prefix, where, migrate_command(options, global)));
  }
  if (found.version < library_schema_version) {
    throw error(errc::not_migrated,
                fmt::format("the schema in {} has version {}, and this library needs {}; run: {}", where,
                            found.version, library_schema_version, migrate_command(options, global)));
  }
  if (found.min_library > library_schema_version) {
    throw error(
        errc::too_new,
        fmt::format("the schema in {} needs a library that knows version {} (meta.min_library), and this one "
                    "knows {}; install a newer rowlock (rowlock migrate status shows more)",
                    where, found.min_library, library_schema_version));
  }
}

error missing_meta_row(const store_options& options, const std::string& global) {
  return error(errc::not_migrated, fmt::format("the row of the table {}meta is missing; run: {}",
                                               options.prefix, migrate_command(options, global)));
}

}  // namespace rowlock::store
