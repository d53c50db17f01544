#pragma once

#include "store/store.hpp"

#include <chrono>
#include <string>

namespace rowlock::test {

// Ends the ghost, for which a busy server may need longer than one call waits.
inline bool ends_ghost(store::session& by, const std::string& backend) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!by.end_ghost(backend)) {
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

}  // namespace rowlock::test
