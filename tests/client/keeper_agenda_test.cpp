#include "client/core/keeper_agenda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

class keeper_agenda_test : public testing::Test {
 protected:
  keeper_agenda_test() {
    agenda.on_wake([this] { ++woken; });
  }
  // How often the keeper is woken by that.
  template <class Work>
  int wakes(Work work) {
    woken = 0;
    work();
    return woken;
  }

  client_layer::keeper_agenda agenda;
  int woken = 0;
};

TEST_F(keeper_agenda_test, the_earliest_look_counts_and_wakes_the_keeper_once) {
  EXPECT_EQ(agenda.next_look(), instant::max());
  EXPECT_EQ(wakes([&] { agenda.look_at(instant{5s}); }), 1);
  EXPECT_EQ(wakes([&] { agenda.look_at(instant{6s}); }), 0) << "the keeper ends its sleep before that";
  EXPECT_EQ(wakes([&] { agenda.look_at(instant{4s}); }), 1);
  EXPECT_EQ(agenda.next_look(), instant{4s});
  EXPECT_EQ(wakes([&] { EXPECT_TRUE(agenda.plan_look(instant{3s})); }), 0);
  EXPECT_FALSE(agenda.plan_look(instant{3s}));
  agenda.begin_look();
  EXPECT_EQ(agenda.next_look(), instant::max());
}

TEST_F(keeper_agenda_test, a_sleep_that_a_new_waiter_would_not_end_is_ended) {
  agenda.plan_look(instant{1s});
  const auto later = [&] { agenda.look_at(instant{9s}); };
  EXPECT_EQ(wakes(later), 0);
  agenda.set_sleep(true, false);
  EXPECT_EQ(wakes(later), 1);
  agenda.set_sleep(false, false);
  agenda.set_silent(true);
  EXPECT_EQ(wakes(later), 1);
  agenda.set_silent(false);
  EXPECT_EQ(wakes(later), 0);
}

TEST_F(keeper_agenda_test, a_new_hold_ends_only_a_sleep_past_holds) {
  EXPECT_EQ(wakes([&] { agenda.note_hold(); }), 0);
  agenda.set_sleep(true, false);
  EXPECT_EQ(wakes([&] { agenda.note_hold(); }), 0);
  agenda.set_sleep(true, true);
  EXPECT_EQ(wakes([&] { agenda.note_hold(); }), 1);
}

TEST_F(keeper_agenda_test, named_waiters_stay_until_they_are_dropped) {
  const std::array waiters{model::hold_id::random(), model::hold_id::random(), model::hold_id::random()};
  EXPECT_FALSE(agenda.has_named());
  EXPECT_EQ(wakes([&] { agenda.look_up({waiters.data(), 1}); }), 1);
  EXPECT_EQ(wakes([&] { agenda.plan_look_up({waiters.data() + 1, 2}); }), 0);
  EXPECT_THAT(agenda.named(2), ElementsAre(waiters[0], waiters[1]));
  EXPECT_THAT(agenda.named(9), ElementsAreArray(waiters));
  agenda.drop_named(2);
  EXPECT_THAT(agenda.named(9), ElementsAre(waiters[2]));
  agenda.drop_named(1);
  EXPECT_FALSE(agenda.has_named());
  EXPECT_THAT(agenda.named(9), IsEmpty());
}

TEST_F(keeper_agenda_test, a_renewal_is_asked_for_until_it_is_taken) {
  EXPECT_FALSE(agenda.take_renewal());
  EXPECT_EQ(wakes([&] { agenda.renew_soon(); }), 1);
  EXPECT_TRUE(agenda.wants_renewal());
  EXPECT_TRUE(agenda.take_renewal());
  EXPECT_FALSE(agenda.wants_renewal());
  EXPECT_EQ(wakes([&] { agenda.plan_renewal(); }), 0);
  EXPECT_TRUE(agenda.wants_renewal());
}

TEST_F(keeper_agenda_test, counts_wake_ups_and_works_before_there_is_a_keeper) {
  const auto before = agenda.wakeups();
  agenda.count_wakeup();
  EXPECT_EQ(agenda.wakeups(), before + 1);
  client_layer::keeper_agenda alone;
  alone.renew_soon();
  EXPECT_TRUE(alone.wants_renewal());
}

}  // namespace
}  // namespace rowlock::test
