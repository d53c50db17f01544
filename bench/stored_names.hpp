// Many locks that exist and that nobody holds.
#pragma once

#include "bench/scenario.hpp"

#include <string>

namespace rowlock::bench {

inline constexpr int a_million = 1'000'000;

std::string stored_name(int i);

// Creates the locks that are missing of stored_name(0) to stored_name(count - 1). They stay.
void create_names(const plan& plan, int count);

}  // namespace rowlock::bench
