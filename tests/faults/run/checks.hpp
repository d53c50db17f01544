// What must hold when the workers of a row have ended.
#pragma once

#include "fault.hpp"

#include <string>
#include <vector>

namespace rowlock::test {

// Returns a sentence for each violation. `told` has everything that the workers wrote down.
std::vector<std::string> violations_of(site& where, const load_settings& load, const histories& told,
                                       const fault& about);

// Waits until the database has no hold, place or lease left. Throws std::runtime_error if some remain.
void until_nothing_is_left(site& where);

}  // namespace rowlock::test
