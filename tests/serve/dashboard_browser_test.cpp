// The dashboard in a browser: what tests/serve/browser/dashboard.py checks.
#include "cli/command_process.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {

TEST(dashboard_browser, shows_and_does_what_it_should) {
  command_process browser{
      {"python3", ROWLOCK_SOURCE_DIR "/tests/serve/browser/dashboard.py", ROWLOCK_COMMAND_PATH}, {}};
  for (;;) {
    const auto line = browser.read_line();
    if (line == "chromium is not installed") GTEST_SKIP() << line;
    if (line.starts_with("failed: ")) ADD_FAILURE() << line;
    if (line.ends_with(" failed")) break;
  }
  const auto ended = browser.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

}  // namespace rowlock::test
