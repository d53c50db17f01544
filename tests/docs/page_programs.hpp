// The programs of docs/other-languages.md: on which databases they run, which of Debian's packages they need, and what
// a test puts in the place of the page's database.
#pragma once

#include "docs/page_blocks.hpp"
#include "migrate/blank_database.hpp"

#include <string>
#include <utility>
#include <vector>

namespace rowlock::test {

// What a driver is told to find the test's database.
struct driver_address {
  explicit driver_address(const blank_database& db);

  std::string url;
  std::string user;
  std::string password;
  std::string host;
  std::string port;
  std::string database;
  std::string schema;  // PostgreSQL
  std::string file;    // SQLite
};

struct page_language {
  std::string name;     // as the names of tests say it
  std::string section;  // of the page
  std::string file;     // the program's name
  std::string build;    // a shell's command in the program's folder; empty for an interpreter
};

struct page_program {
  // A package of Debian, and a shell's command that succeeds if it is installed.
  using package = std::pair<std::string, std::string>;

  page_language language;
  std::vector<std::string> stores;
  std::string lead;  // a part of the paragraph before it
  std::vector<package> needs;
  std::string start;  // a shell's command in the program's folder
  std::string (*with_address)(const std::string& text, const driver_address& own);

  // Throws std::runtime_error if the page does not have it.
  page_block block() const;
  // The first package that is missing, or nothing.
  std::string missing() const;
};

// Those that a test runs.
const std::vector<page_program>& page_programs();

// The text with the words of the page replaced. Throws std::runtime_error if it does not have them.
std::string with_own(std::string text, const std::string& words, const std::string& own);

}  // namespace rowlock::test
