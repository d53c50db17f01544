#include "client/core/recently_contended.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rowlock::test {
namespace {

class recently_contended_test : public testing::Test {
 protected:
  client_layer::recently_contended names;
};

TEST_F(recently_contended_test, remembers_a_name_until_it_is_removed) {
  EXPECT_FALSE(names.contains("a"));
  names.add("a");
  names.add("b");
  EXPECT_TRUE(names.contains("a"));
  names.remove("a");
  names.remove("never added");
  EXPECT_FALSE(names.contains("a"));
  EXPECT_TRUE(names.contains("b"));
  names.remove("b");
  EXPECT_FALSE(names.contains("b"));
  names.add("b");
  EXPECT_TRUE(names.contains("b"));
}

TEST_F(recently_contended_test, forgets_rather_than_grows_without_limit) {
  constexpr int many = 5000;
  const auto name = [](int i) { return "n" + std::to_string(i); };
  for (int i = 0; i < many; ++i) {
    names.add(name(i));
    ASSERT_TRUE(names.contains(name(i))) << "the latest is always remembered";
  }
  int kept = 0;
  for (int i = 0; i < many; ++i) kept += names.contains(name(i)) ? 1 : 0;
  EXPECT_LE(kept, 1000);
}

}  // namespace
}  // namespace rowlock::test
