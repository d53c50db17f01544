// A problem that `rowlock doctor` looks for. Each store has a list of its own checks; src/doctor evaluates
// it.
#pragma once

#include "store/server_facts.hpp"

#include <rowlock/doctor.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace rowlock::store {

struct check {
  std::string_view code;
  severity level;
  std::vector<std::string_view> reads;  // facts; if one of them is unknown, so is the answer
  bool (*is_so)(const server_facts&);   // called if they are all known
  // Texts for people. {name} is replaced by the value of that fact.
  std::string_view found;
  std::string_view why;
  std::string_view remedy;
};

// The checks that all databases share.
std::vector<check> common_checks();

std::span<const check> postgres_checks();
std::span<const check> mysql_checks();
std::span<const check> sqlite_checks();

}  // namespace rowlock::store
