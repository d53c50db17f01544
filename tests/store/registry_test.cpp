#include "store/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rowlock::test {

namespace {

TEST(registry_test, has_each_linked_store_under_its_dialect_in_a_fixed_order) {
  const auto dialects = store::linked_dialects();
  ASSERT_FALSE(dialects.empty());
  for (const auto& dialect : dialects) {
    const auto* found = store::find_store(dialect);
    ASSERT_NE(found, nullptr) << dialect;
    EXPECT_EQ(found->dialect, dialect);
    EXPECT_FALSE(found->migrations().empty()) << dialect;
    EXPECT_FALSE(found->checks().empty()) << dialect;
  }
  const std::vector<std::string> order{"postgres", "mysql", "sqlite"};
  const auto place = [&](const std::string& dialect) { return std::ranges::find(order, dialect); };
  EXPECT_TRUE(std::ranges::is_sorted(dialects, {}, place));
}

TEST(registry_test, ignores_a_store_of_no_known_dialect) {
  static constexpr store::linked_store stranger{.dialect = "oracle"};
  const auto before = store::linked_dialects();
  store::add_store(stranger);
  EXPECT_EQ(store::find_store("oracle"), nullptr);
  EXPECT_EQ(store::linked_dialects(), before);
}

TEST(registry_test, of_a_library_that_is_loaded_again_has_it_once) {
  const auto before = store::linked_dialects();
  store::add_store(*store::find_store(before.front()));
  EXPECT_EQ(store::linked_dialects(), before);
}

}  // namespace

}  // namespace rowlock::test
