// Files of SQL with markers, which are read when a client connects.
#include "store/sql_catalog.hpp"

#include "fuzz.hpp"

using namespace rowlock;

ROWLOCK_FUZZ(catalog) {
  const embedded::file files[] = {{"fuzzed", bytes, ""}};
  fuzz::accepts(
      [&] {
        const store::sql_catalog read{files, "app_"};
        for (const auto& [name, text] : read) {
          fuzz::demand(!text.empty(), "a statement has a text");
          fuzz::demand(text.back() != ';' && text.back() != '\n', "a statement ends in itself");
          fuzz::demand(read[name] == text, "a statement is found by its name");
        }
      },
      errc::internal);
  fuzz::demand(store::with_prefix(bytes, "rowlock_") == bytes, "the shipped prefix changes nothing");
}
