// The migration files that were compiled in.
#pragma once

#include <rowlock/migrate.hpp>

#include "store/embedded.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::migrate {

// "0001_locks.up" and "0001_locks.down" make migration 1, "locks". Sorted by version; the prefix is put in.
// Throws error(internal) for a name of another form, a number that is missing and a half that has no other
// half.
std::vector<migration> pair_files(std::span<const embedded::file> files, std::string_view prefix);

}  // namespace rowlock::migrate
