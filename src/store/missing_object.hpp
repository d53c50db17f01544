// Tells, when the database misses a table or column, whether that is rowlock's or one that a user's trigger names.
#pragma once

#include "model/for_stores.hpp"
#include "store/sql_catalog.hpp"

#include <string_view>

namespace rowlock::store {

// Whether the message of an error names something that rowlock's statements use. said: the message; it is one
// line, and may be in any language. The name is its last word that is quoted, follows a dot, or ends the line
// after a colon.
ROWLOCK_FOR_STORES bool names_rowlocks_own(std::string_view said, const sql_catalog& catalog);

// What to do if the message names something else.
inline constexpr std::string_view check_the_triggers =
    "rowlock's statements do not use it: check the triggers and rules on rowlock's tables";
// What to do if a migration misses something of rowlock's.
inline constexpr std::string_view verify_the_schema =
    "the schema is not what the migrations before this one leave; rowlock migrate verify says how it differs";

// Whether a statement of this name belongs to a migration, which rowlock migrate itself runs.
ROWLOCK_FOR_STORES bool is_of_migration(std::string_view doing);

}  // namespace rowlock::store
