// The migration files that were compiled in.
#pragma once

#include <rowlock/migrate.hpp>

#include "store/embedded.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::migrate {

// Makes migration 1, "locks", from the files "0001_locks.up" and "0001_locks.down". Sorts the migrations by version and
// inserts the prefix. Throws error(internal) for any other form of name, a missing number, or half a pair.
std::vector<migration> pair_files(std::span<const embedded::file> files, std::string_view prefix);

}  // namespace rowlock::migrate
