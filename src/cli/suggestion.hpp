// Guesses what a misspelt word meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// The candidate with the fewest missing, added, changed or swapped letters. Empty if more than a third of the
// letters differ in each.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rowlock::cli
