#include "support/sql_fixture.hpp"

#include "store/sql_catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace rowlock::test {

namespace {

// Only adds, as "expand, then contract" demands: this version must run on it unchanged.
constexpr std::string_view made_up_next_migration = R"(
ALTER TABLE rowlock_lock ADD COLUMN made_up TEXT;
ALTER TABLE rowlock_lease ADD COLUMN made_up TEXT;
CREATE TABLE rowlock_made_up (id INTEGER NOT NULL PRIMARY KEY);
UPDATE rowlock_meta SET schema_version = schema_version + 1;
)";

}  // namespace

void migrate(std::span<const embedded::file> files, std::string_view prefix,
             const std::function<void(const std::string& sql)>& run) {
  std::vector<embedded::file> ups;
  std::ranges::copy_if(files, std::back_inserter(ups),
                       [](const auto& file) { return file.name.ends_with(".up"); });
  std::ranges::sort(ups, {}, &embedded::file::name);
  for (const auto& up : ups) run(store::with_prefix(up.text, prefix));

  const char* extra = std::getenv("ROWLOCK_TEST_EXTRA_MIGRATION");
  if (extra && std::string_view{extra} == "1") run(store::with_prefix(made_up_next_migration, prefix));
}

}  // namespace rowlock::test
