#include "client/core/hold_room.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace rowlock::test {
namespace {

using client_layer::hold_room;

hold_room::place take(const hold_room& room, std::size_t wanted, std::size_t present, std::size_t most) {
  return room.take(
      wanted, [present] { return present; }, most);
}

TEST(hold_room_test, counts_those_present_and_those_under_way) {
  const hold_room room;
  const auto first = take(room, 2, 1, 4);
  ASSERT_TRUE(first);
  EXPECT_FALSE(take(room, 2, 1, 4)) << "1 is present, and 2 are under way";
  EXPECT_TRUE(take(room, 1, 1, 4));
  EXPECT_EQ(room.taken(), 2U) << "what was refused or has ended takes no room";
  EXPECT_FALSE(take(room, 5, 0, 4));
}

TEST(hold_room_test, is_freed_once) {
  const hold_room room;
  auto first = take(room, 3, 0, 4);
  auto moved = std::move(first);
  first.free();
  EXPECT_EQ(room.taken(), 3U);
  moved.free();
  moved.free();
  EXPECT_EQ(room.taken(), 0U);
}

TEST(hold_room_test, is_passed_on_and_changes_with_the_holds_that_are_present) {
  const hold_room room;
  auto all = take(room, 3, 0, 4);
  auto one = all.split();
  EXPECT_EQ(room.taken(), 3U);
  all.resize(1);
  EXPECT_EQ(room.taken(), 2U);
  one.free();
  EXPECT_EQ(room.taken(), 1U);
  all.resize(3);
  EXPECT_EQ(room.taken(), 3U) << "for holds that were present and end";
  all.free();
  EXPECT_EQ(room.taken(), 0U);
}

// The request for this hold is answered while another request asks for room.
TEST(hold_room_test, counts_a_hold_that_becomes_present_meanwhile) {
  const hold_room room;
  auto under_way = take(room, 1, 0, 1);
  std::size_t present = 0;
  const auto count = [&] {
    const auto seen = present;
    ++present;
    under_way.free();
    return seen;
  };
  EXPECT_FALSE(room.take(1, count, 1));
}

TEST(hold_room_test, may_outlive_the_room) {
  std::optional<hold_room> room{std::in_place};
  auto kept = take(*room, 1, 0, 1);
  room.reset();
  EXPECT_NO_THROW(kept.free());
}

}  // namespace
}  // namespace rowlock::test
