// What to do about a right that is missing, for the messages of the stores with roles.
#pragma once

#include <string_view>

namespace rowlock::store {

inline constexpr std::string_view rights_to_use_locks =
    "rowlock migrate grants prints the rights that a role needs: "
    "--as run to use locks, --as observe to only read them";
inline constexpr std::string_view rights_to_migrate =
    "rowlock migrate grants --as migrate prints the rights that a migration needs";
inline constexpr std::string_view rights_to_see_everything =
    "rowlock migrate grants --as operate prints the rights with which rowlock doctor sees everything";

}  // namespace rowlock::store
