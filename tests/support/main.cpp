#include "support/hang_watch.hpp"
#include "support/store_report.hpp"
#include "support/stores.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  // Must come before InitGoogleTest, which asks the parameterized suites for their stores.
  rowlock::test::select_stores(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(
        stderr,
        "unknown argument %s; --stores=memory,sqlite,postgres,mariadb,mysql or GoogleTest's own are known\n",
        argv[1]);
    return 64;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new rowlock::test::store_report);
  testing::UnitTest::GetInstance()->listeners().Append(new rowlock::test::hang_watch);
  return RUN_ALL_TESTS();
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 64;
}
