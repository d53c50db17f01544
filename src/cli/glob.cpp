#include "cli/glob.hpp"

#include "model/text.hpp"

#include <algorithm>
#include <cstddef>

namespace rowlock::cli {

namespace {

// How many bytes the first character has; 1 for a byte that starts no character.
std::size_t character_length(std::string_view text) {
  return std::max<std::size_t>(model::first_character(text).length, 1);
}

}  // namespace

bool matches(std::string_view name, std::string_view pattern) {
  constexpr auto none = std::string_view::npos;
  std::size_t at = 0;
  std::size_t in = 0;            // in the pattern
  std::size_t star = none;       // the latest "*" in the pattern
  std::size_t star_matched = 0;  // where the text that this "*" stands for ends
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      star_matched = at;
      continue;
    }
    if (in < pattern.size() && pattern[in] == '?') {
      at += character_length(name.substr(at));
      ++in;
      continue;
    }
    const bool is_quoted = in + 1 < pattern.size() && pattern[in] == '\\';
    if (in < pattern.size() && pattern[in + (is_quoted ? 1 : 0)] == name[at]) {
      in += is_quoted ? 2 : 1;
      ++at;
      continue;
    }
    if (star == none) return false;
    star_matched += character_length(name.substr(star_matched));
    at = star_matched;
    in = star + 1;
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

}  // namespace rowlock::cli
