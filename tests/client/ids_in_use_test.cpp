#include "client/core/ids_in_use.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace rowlock::test {
namespace {

class ids_in_use_test : public testing::Test {
 protected:
  const model::hold_id id = model::hold_id::random();
  std::optional<client_layer::ids_in_use> ids{std::in_place};
};

TEST_F(ids_in_use_test, an_id_is_in_use_until_its_last_mark_goes) {
  EXPECT_FALSE(ids->contains(id));
  std::optional one{ids->use(id)};
  std::optional other{ids->use(id)};
  one.reset();
  EXPECT_TRUE(ids->contains(id));
  EXPECT_FALSE(ids->contains(model::hold_id::random()));
  other.reset();
  EXPECT_FALSE(ids->contains(id));
}

TEST_F(ids_in_use_test, a_mark_that_is_moved_counts_once) {
  auto one = ids->use(id);
  {
    const auto moved = std::move(one);
    EXPECT_TRUE(moved.is_of(id));
    EXPECT_FALSE(one.is_of(id));
    EXPECT_TRUE(ids->contains(id));
  }
  EXPECT_FALSE(ids->contains(id));
}

TEST_F(ids_in_use_test, a_mark_that_is_replaced_frees_its_id) {
  const auto next = model::hold_id::random();
  auto mark = ids->use(id);
  mark = ids->use(next);
  EXPECT_FALSE(ids->contains(id));
  EXPECT_TRUE(ids->contains(next));
  EXPECT_TRUE(mark.is_of(next));
  mark = {};
  EXPECT_FALSE(ids->contains(next));
  EXPECT_FALSE(mark.is_of(next));
}

TEST_F(ids_in_use_test, a_mark_may_outlive_the_table) {
  const auto mark = ids->use(id);
  ids.reset();
  EXPECT_TRUE(mark.is_of(id));
}

}  // namespace
}  // namespace rowlock::test
