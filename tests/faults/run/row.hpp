// One row of the matrix: a fault on a database, repeated under load.
#pragma once

#include "fault.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::test {

struct row_settings {
  std::uint64_t seed = 1;
  std::chrono::milliseconds time{0};  // the fault is repeated for this long; it happens at least once
  std::chrono::milliseconds ttl{1'500};
  planted planted_fault = planted::nothing;
  std::string keep;  // a folder for the histories and logs; empty: they are removed
};

struct row_result {
  std::string fault;
  std::string database;
  std::int64_t times = 0;       // how often the fault happened
  std::int64_t operations = 0;  // each is an acquire, a guarded write and a release
  std::int64_t losses = 0;      // holds that were lost
  std::int64_t refused = 0;     // writes that the guard refused
  std::vector<std::string> violations;
  std::vector<std::chrono::nanoseconds> recoveries;  // one for each time that the fault happened
};

// Makes the row. A step that does not end is a violation, too. Throws interrupted.
row_result make_row(site& where, const fault& what, const row_settings& settings);

// The head of the table, and a row of it, as Markdown.
std::string table_head();
std::string to_text(const row_result& row);

}  // namespace rowlock::test
