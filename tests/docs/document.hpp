// Files of this source tree, as the tests of the documents read them.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rowlock::test {

inline std::string source_path(const std::string& path) {
  return std::string{ROWLOCK_SOURCE_DIR "/"} + path;
}

// path: from the top of the tree. Throws std::runtime_error when there is no such file.
inline std::string text_of(const std::string& path) {
  std::ifstream file{source_path(path)};
  if (!file) throw std::runtime_error("there is no " + path);
  return {std::istreambuf_iterator<char>{file}, {}};
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text{text_of(path)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace rowlock::test
