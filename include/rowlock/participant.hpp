// Who takes part in an election or a barrier.
#pragma once

#include <rowlock/config.hpp>

#include <cstdint>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

// As the database knows it. A process that takes part more than once is listed as often.
struct participant {
  bool leads = false;         // of an election: it has the office, the others wait for it
  std::string host{};         // where it runs
  std::int64_t pid = 0;       // its process
  std::string application{};  // its options::application
  std::string user{};         // whose process it is; empty if an older version takes part
  std::string command{};      // its options::command

  bool operator==(const participant&) const = default;
};

ROWLOCK_END_NAMESPACE
