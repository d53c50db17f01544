// What a misspelt word may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// The candidate that most resembles the word, counted in letters that were missed, added, changed or swapped.
// Empty if none resembles it: more than a third of the letters are wrong.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rowlock::cli
