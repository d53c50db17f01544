#ifdef ROWLOCK_TEST_MYSQL

#include "store/embedded.hpp"
#include "store/sql_catalog.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

// What fails behind a COMMIT would be taken for a transaction that has changed nothing.
TEST(mysql_commit, ends_each_script_that_begins_a_transaction) {
  int scripts = 0;
  for (const auto& [name, text] : store::sql_catalog{embedded::mysql_queries(), "rowlock_"}) {
    const auto commit = text.find("COMMIT");
    if (commit == std::string::npos || text.find("ISOLATION LEVEL READ COMMITTED") != std::string::npos)
      continue;
    ++scripts;
    // This one lifts a limit of the session, which the next transaction sets anyway.
    if (name == "commit_bounded") continue;
    EXPECT_EQ(text.find_first_not_of("; \n", commit + 6), std::string::npos) << name;
  }
  EXPECT_GT(scripts, 9);
}

}  // namespace
}  // namespace rowlock::test

#endif
