// Whether scripts/test --long asked for the longer variant of the tests.
#pragma once

#include <cstdlib>
#include <string_view>

namespace rowlock::test {

inline bool is_long_run() {
  const char* set = std::getenv("ROWLOCK_TEST_LONG");
  return set && std::string_view{set} == "1";
}

}  // namespace rowlock::test
