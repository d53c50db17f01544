// Shared by list and watch: which locks they show, in which order, and in which cells.
#pragma once

#include "cli/command_line.hpp"

#include <rowlock/admin.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::cli {

// As written on the command line.
struct listing_words {
  std::string pattern;
  bool held = false;
  bool waiting = false;
  std::int64_t limit = 0;  // 0: no limit
  std::string sort = "name";

  bool chooses() const { return !pattern.empty() || held || waiting; }
};

// PATTERN, --held, --waiting, --limit and --sort.
void add_listing_options(CLI::App& command, listing_words& words);

// Reads the chosen locks page by page. In the order of names `use` receives each page as it is read; in another
// order it receives all locks at once. It receives at most as many as the limit.
void read_listing(admin& db, const listing_words& words,
                  const std::function<void(const std::vector<lock_info>&)>& use);

std::vector<std::string> listing_heading();
std::vector<std::string> listing_row(const lock_info& lock);

}  // namespace rowlock::cli
