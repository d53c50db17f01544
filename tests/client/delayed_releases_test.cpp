#include "client/core/delayed_releases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::instant;
using client_layer::release_operation;
using testing::ElementsAre;
using namespace std::chrono_literals;

std::shared_ptr<release_operation> withdrawn(const std::string& name) {
  auto made = std::make_shared<release_operation>();
  made->name = name;
  return made;
}

std::shared_ptr<release_operation> freed(const std::string& name) {
  auto made = withdrawn(name);
  made->was_held = true;
  return made;
}

TEST(delayed_releases_test, those_of_a_name_are_hastened_together) {
  client_layer::delayed_releases delayed;
  const instant start{};
  const auto first = withdrawn("a");
  const auto second = withdrawn("a");
  delayed.add(first, start + 50ms);
  delayed.add(second, start + 50ms);
  EXPECT_FALSE(delayed.hasten("a", start + 60ms));
  EXPECT_FALSE(delayed.hasten("b", start));
  EXPECT_TRUE(delayed.hasten("a", start + 10ms));
  EXPECT_EQ(delayed.next(), start + 10ms);
  EXPECT_THAT(delayed.take_next(), ElementsAre(first, second));
}

TEST(delayed_releases_test, those_of_a_name_are_due_together) {
  client_layer::delayed_releases delayed;
  const instant start{};
  const auto first = withdrawn("a");
  const auto second = withdrawn("a");
  const auto other = withdrawn("b");
  delayed.add(first, start + 50ms);
  delayed.add(second, start + 10ms);
  EXPECT_EQ(delayed.next(), start + 50ms) << "the row was seen to be locked";
  delayed.add(other, start + 20ms);
  EXPECT_EQ(delayed.next(), start + 20ms);
  EXPECT_THAT(delayed.take_next(), ElementsAre(other));
  EXPECT_THAT(delayed.take_next(), ElementsAre(first, second));
  EXPECT_TRUE(delayed.empty());
  EXPECT_EQ(delayed.next(), instant::max());
}

TEST(delayed_releases_test, the_release_of_a_hold_brings_the_others_forward) {
  client_layer::delayed_releases delayed;
  const instant start{};
  const auto withdrawal = withdrawn("a");
  const auto release = freed("a");
  const auto late = freed("a");
  delayed.add(withdrawal, start + 1s);
  delayed.add(release, start + 20ms);
  EXPECT_EQ(delayed.next(), start + 20ms);
  delayed.add(late, start + 30ms);
  EXPECT_EQ(delayed.next(), start + 20ms);
  EXPECT_THAT(delayed.take_next(), ElementsAre(withdrawal, release, late));
}

}  // namespace
}  // namespace rowlock::test
