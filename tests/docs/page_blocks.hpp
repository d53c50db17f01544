// The fenced blocks of a page, and where they stand.
#pragma once

#include "docs/document.hpp"

#include <string>
#include <vector>

namespace rowlock::test {

struct page_block {
  std::string section;   // the heading above it
  std::string lead;      // the paragraph before it, in one line
  std::string language;  // what follows the fence; may be empty
  std::vector<std::string> lines;

  std::string text() const {
    std::string result;
    for (const auto& line : lines) result += line + '\n';
    return result;
  }
};

inline std::vector<page_block> blocks_of(const std::string& page) {
  std::vector<page_block> found;
  std::string section;
  std::string lead;
  bool inside = false;
  bool goes_on = false;
  for (const auto& line : lines_of(page)) {
    const bool is_fence = line.starts_with("```");
    if (inside) {
      inside = !is_fence;
      if (inside) found.back().lines.push_back(line);
    } else if (is_fence) {
      found.push_back({section, lead, line.substr(3), {}});
      inside = true;
      goes_on = false;
    } else if (line.starts_with('#')) {
      section = line.substr(line.find_first_not_of("# "));
      lead.clear();
    } else if (line.empty()) {
      goes_on = false;
    } else {
      lead = goes_on ? lead + ' ' + line : line;
      goes_on = true;
    }
  }
  return found;
}

}  // namespace rowlock::test
