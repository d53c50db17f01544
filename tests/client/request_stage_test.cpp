#include "client/core/request_stage.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::request_stage;
using event = request_stage::event;
using place = request_stage::place;

constexpr auto after = request_stage::after;

TEST(request_stage_test, a_request_in_hand_is_passed_on) {
  EXPECT_EQ(after(place::in_hand, event::submitted), place::waiting_here);
  EXPECT_EQ(after(place::in_hand, event::registered), place::queued_there);
  EXPECT_FALSE(after(place::in_hand, event::taken)) << "another thread has it already";
}

TEST(request_stage_test, the_queue_and_the_registry_only_give_requests_away) {
  for (const auto owner : {place::waiting_here, place::queued_there}) {
    EXPECT_EQ(after(owner, event::taken), place::in_hand);
    EXPECT_FALSE(after(owner, event::submitted));
    EXPECT_FALSE(after(owner, event::registered));
  }
}

TEST(request_stage_test, a_new_request_is_in_hand) {
  request_stage stage;
  EXPECT_EQ(stage.now(), place::in_hand);
  stage.submitted();
  EXPECT_EQ(stage.now(), place::waiting_here);
  stage.taken();
  stage.registered();
  EXPECT_EQ(stage.now(), place::queued_there);
}

#ifndef NDEBUG
TEST(request_stage_test, a_second_owner_is_refused) {
  request_stage stage;
  stage.submitted();
  EXPECT_DEATH(stage.submitted(), "two owners");
}
#endif

}  // namespace
}  // namespace rowlock::test
