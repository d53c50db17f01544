// What the fixtures of SQL stores share: they apply migrations as any tool would.
#pragma once

#include "store/embedded.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::test {

// rowlock's tables, without the prefix.
inline constexpr std::string_view rowlock_tables[] = {"lease", "lock",   "permit",    "queue",
                                                      "meta",  "marker", "recording", "history"};

// The columns of meta that a statement may write; a database has one row.
inline constexpr std::string_view meta_columns =
    "id, schema_version, min_library, epoch, token_floor, identity, epoch_s, skew_ms, recordings";
// A script that deletes the rows of all tables, also those that the triggers of add_triggers have written.
std::string emptying_script(std::string_view prefix);

// Runs each up file with the prefix inserted, and an invented next migration if the environment asks for it.
void migrate(std::span<const embedded::file> files, std::string_view prefix,
             const std::function<void(const std::string& sql)>& run);

// With ROWLOCK_TEST_TRIGGERS=1: triggers on every table, which note each changed row in a table of their own. Then an
// insert id, an affected row or a result may come from a trigger. dialect: postgres, mysql or sqlite.
bool asked_for_triggers();
void add_triggers(const std::string& dialect, const std::string& prefix,
                  const std::function<void(const std::string& sql)>& run);

}  // namespace rowlock::test
