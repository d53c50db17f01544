// The results as a table for people, or as JSON.
#pragma once

#include "bench/scenario.hpp"

#include <string>
#include <vector>

namespace rowlock::bench {

std::string as_table(const std::vector<result>& results);
// An array of objects, one on each line, with scenario, threads, unit, rowlock, floor and ratio.
std::string as_json(const std::vector<result>& results);

}  // namespace rowlock::bench
