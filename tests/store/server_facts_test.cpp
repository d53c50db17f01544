#include "store/server_facts.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

TEST(server_facts_test, a_fact_that_becomes_known_is_no_longer_unknown) {
  store::server_facts facts;
  facts.set_unknown("schema_version", "this user may not see it");
  EXPECT_FALSE(facts.has("schema_version"));
  ASSERT_NE(facts.why_unknown("schema_version"), nullptr);
  EXPECT_EQ(*facts.why_unknown("schema_version"), "this user may not see it");
  facts.set("schema_version", 0);
  EXPECT_TRUE(facts.is("schema_version", "0"));
  EXPECT_EQ(facts.why_unknown("schema_version"), nullptr);
}

}  // namespace
}  // namespace rowlock::test
