#include "client/pending_sweeps.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

TEST(pending_sweeps_test, one_sweep_serves_all_releases_of_a_name_before_it_looks) {
  client_layer::pending_sweeps sweeps;
  EXPECT_TRUE(sweeps.add("a"));
  EXPECT_FALSE(sweeps.add("a"));
  EXPECT_TRUE(sweeps.add("b"));
  sweeps.take("a");
  EXPECT_TRUE(sweeps.add("a")) << "it was released after the look";
  EXPECT_FALSE(sweeps.add("b"));
}

}  // namespace
}  // namespace rowlock::test
