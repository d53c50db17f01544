// A database that takes the next hold from its holder as soon as it is granted, once, as a forced release at that moment.
#pragma once

#include "cli/command_process.hpp"
#include "support/store_fixture.hpp"

#include <string>

namespace rowlock::test {

// Returns whether the trigger was made. Requires: the store is SQLite.
inline bool take_the_next_hold(store_fixture& store) {
  const auto path = store.url().substr(store.url().find(':') + 1);
  const auto lock = store.options().prefix + "lock";
  const auto trigger = "CREATE TABLE taken (n INT); CREATE TRIGGER takes AFTER UPDATE ON " + lock +
                       " WHEN NEW.hold_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM taken) "
                       "BEGIN INSERT INTO taken VALUES (1); UPDATE " +
                       lock + " SET lease_id = NULL, hold_id = NULL, in_use = 0 WHERE name = NEW.name; END";
  return command_process{{"sqlite3", path, trigger}, {}}.wait().exit_code == 0;
}

}  // namespace rowlock::test
