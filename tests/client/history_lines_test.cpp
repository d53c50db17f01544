#include "client/core/history_lines.hpp"

#include "client/lock_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using client_layer::intent;
using store::history_event;
using testing::ElementsAre;
using testing::IsEmpty;

const party me;
const party first;
const party second;

std::vector<store::history_entry> lines_of(const store::lock_view& view, const decision& made,
                                           intent why = intent::use) {
  return client_layer::history_lines(view, made.change, why, "by root@host:1 rowlock");
}

auto line(history_event event, const party& who, model::token token) {
  return testing::AllOf(testing::Field("event", &store::history_entry::event, event),
                        testing::Field("hold", &store::history_entry::hold, who.hold),
                        testing::Field("lease", &store::history_entry::lease, who.lease),
                        testing::Field("token", &store::history_entry::token, token));
}

decision acquire(const store::lock_view& view, bool wait = true) {
  acquire_terms wish;
  wish.definition = definition_of(view.row);
  wish.lease = me.lease;
  wish.hold = me.hold;
  wish.wait = wait;
  return client_layer::decide_acquire(view, wish, no_skew);
}
decision release(const store::lock_view& view) {
  return client_layer::decide_release(view, {.hold = me.hold}, no_skew);
}

TEST(history_lines_test, a_free_lock_is_granted) {
  const store::lock_view view = a_lock();
  EXPECT_THAT(lines_of(view, acquire(view)), ElementsAre(line(history_event::granted, me, 8)));
}

TEST(history_lines_test, a_request_that_waits_is_queued_once) {
  const store::lock_view view = a_lock().held_by(first);
  EXPECT_THAT(lines_of(view, acquire(view)), ElementsAre(line(history_event::queued, me, 0)));
  const store::lock_view again = a_lock().held_by(first).queued(me);
  EXPECT_THAT(lines_of(again, acquire(again)), IsEmpty());
  EXPECT_THAT(lines_of(view, acquire(view, false)), IsEmpty()) << "busy";
}

TEST(history_lines_test, a_release_hands_over_to_the_waiter) {
  const store::lock_view view = a_lock().held_by(me).queued(first).queued(second);
  EXPECT_THAT(lines_of(view, release(view)),
              ElementsAre(line(history_event::released, me, 7), line(history_event::handed_over, first, 8)));
}

TEST(history_lines_test, a_waiter_that_gives_up_or_dies_leaves_the_queue) {
  const store::lock_view view = a_lock().held_by(first).queued(me);
  EXPECT_THAT(lines_of(view, release(view)), ElementsAre(line(history_event::left, me, 0)));
  const store::lock_view dead = a_lock().held_by(me).dead_waiter(second);
  EXPECT_THAT(lines_of(dead, release(dead)),
              ElementsAre(line(history_event::released, me, 7), line(history_event::left, second, 0)));
}

TEST(history_lines_test, what_the_dead_held_is_lost) {
  const store::lock_view view = a_lock().held_by(first, {});
  EXPECT_THAT(lines_of(view, acquire(view)),
              ElementsAre(line(history_event::lost, first, 7), line(history_event::granted, me, 8)));
}

TEST(history_lines_test, force_names_who_does_it) {
  const store::lock_view view = a_lock().held_by(first).queued(me);
  const auto made = client_layer::decide_force(view, {}, no_skew);
  const auto lines = lines_of(view, made, intent::force);
  ASSERT_THAT(lines,
              ElementsAre(line(history_event::forced, first, 7), line(history_event::handed_over, me, 9)));
  EXPECT_EQ(lines[0].detail, "by root@host:1 rowlock");
}

TEST(history_lines_test, a_release_request_has_its_reason) {
  const store::lock_view view = a_lock().held_by(first);
  const auto lines = lines_of(view, client_layer::decide_request(view, "deploy", 30s));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].event, history_event::requested);
  EXPECT_EQ(lines[0].token, 7);
  EXPECT_EQ(lines[0].detail, "by root@host:1 rowlock: deploy");
}

TEST(history_lines_test, a_detail_fits_its_column_and_ends_with_a_whole_character) {
  const store::lock_view view = a_lock().held_by(first);
  const std::string reason(512, 'r');
  const auto detail_of = [&](const std::string& by, const decision& made, intent why) {
    return client_layer::history_lines(view, made.change, why, by).at(0).detail;
  };
  const auto request = client_layer::decide_request(view, reason, 30s);
  EXPECT_EQ(detail_of(std::string(510, 'b'), request, intent::use).size(), 1024U);
  EXPECT_EQ(detail_of(std::string(511, 'b'), request, intent::use).size(), 1024U);
  const auto cut = [](std::size_t before) { return std::string(before, 'b') + "\u20ac"; };
  const auto force = client_layer::decide_force(view, {}, no_skew);
  EXPECT_EQ(detail_of(cut(1021), force, intent::force), cut(1021)) << "it fits";
  EXPECT_EQ(detail_of(cut(1022), force, intent::force), std::string(1022, 'b'));
  EXPECT_EQ(detail_of(cut(1023), request, intent::use), std::string(1023, 'b'));
}

TEST(history_lines_test, an_adopted_hold_is_moved) {
  const store::lock_view view = a_lock().held_by(first);
  const model::waiter mine{0, me.hold, me.lease};
  const auto lines = lines_of(view, client_layer::decide_adopt(view, first.hold, first.lease, mine));
  EXPECT_THAT(lines, ElementsAre(line(history_event::moved, me, 7)));
}

TEST(history_lines_test, a_grant_with_an_explicit_ttl_is_on_the_lease_of_its_own) {
  store::lease_record own;
  own.id = lease_id::random();
  const auto lines = [&](const store::lock_view& view) {
    const auto& row = view.row;
    return lines_of(view,
                    client_layer::decide_acquire_with_ttl(
                        view, {{{row.name, row.kind, row.capacity}}, me.lease, me.hold, true}, own, no_skew));
  };
  const party there{own.id, me.client, me.hold};
  EXPECT_THAT(lines(a_lock()), ElementsAre(line(history_event::granted, there, 8)));
  EXPECT_THAT(lines(a_lock().held_by(first, {}).queued(me)),
              ElementsAre(line(history_event::lost, first, 7), line(history_event::handed_over, there, 8)));
  EXPECT_THAT(lines(a_lock().held_by(me)), IsEmpty()) << "it keeps its id and its token";
}

TEST(history_lines_test, what_is_reclaimed_was_lost_to_who_reclaims_it) {
  const model::waiter mine{0, me.hold, me.lease};
  const store::lock_view exclusive = a_lock().held_by(first).queued(second);
  const auto lines = lines_of(
      exclusive, client_layer::decide_reclaim(exclusive, first.hold, first.lease, mine), intent::reclaim);
  EXPECT_THAT(lines, ElementsAre(line(history_event::lost, first, 7), line(history_event::granted, me, 8)));
  EXPECT_EQ(lines.at(0).detail, "reclaimed by root@host:1 rowlock");
  const store::lock_view shared = a_semaphore(2).shared_by(first).shared_by(second, 1, {});
  const auto others =
      lines_of(shared, client_layer::decide_reclaim(shared, first.hold, first.lease, mine), intent::reclaim);
  EXPECT_THAT(others, ElementsAre(line(history_event::lost, first, 8), line(history_event::lost, second, 9),
                                  line(history_event::granted, me, 10)));
  EXPECT_EQ(others.at(1).detail, "") << "nobody has reclaimed it";
}

// A quorum raises its members' tokens to the highest of them.
TEST(history_lines_test, a_hold_whose_token_was_raised_is_granted_once) {
  const store::lock_view view = a_lock().held_by(me).queued(first);
  const auto lines = lines_of(view, client_layer::decide_raise_token(view, me.hold, 12));
  EXPECT_THAT(lines, ElementsAre(line(history_event::moved, me, 12)));
  EXPECT_EQ(lines.at(0).detail, "from token 7");
}

TEST(history_lines_test, an_upgrade_is_a_grant) {
  const store::lock_view view = a_shared_mutex().shared_by(me);
  EXPECT_THAT(lines_of(view, client_layer::decide_upgrade(view, me.hold, no_skew)),
              ElementsAre(line(history_event::granted, me, 9)));
}

// A request that was granted before its lease was lost is sent again on the next lease, with the same id.
TEST(history_lines_test, a_hold_of_the_dead_is_lost_even_if_its_request_is_granted_again) {
  party before = me;
  before.lease = lease_id::random();
  const store::lock_view view = a_lock().held_by(before, {});
  EXPECT_THAT(lines_of(view, acquire(view)),
              ElementsAre(line(history_event::lost, before, 7), line(history_event::granted, me, 8)));
}

TEST(history_lines_test, permits_are_holds_and_those_of_the_dead_are_lost) {
  const store::lock_view view = a_semaphore(3).shared_by(first).shared_by(second, 1, {}).shared_by(me);
  EXPECT_THAT(lines_of(view, release(view)),
              ElementsAre(line(history_event::lost, second, 9), line(history_event::released, me, 10)));
}

TEST(history_lines_test, a_rest_is_nobodys_hold) {
  const store::lock_view view = a_lock().held_by(me);
  store::lease_record rest;
  rest.id = rest.client = lease_id::belonging_to(me.hold);
  rest.ttl = 1h;
  const auto made = client_layer::decide_release(view, {.hold = me.hold, .rest = rest}, no_skew);
  EXPECT_THAT(lines_of(view, made), ElementsAre(line(history_event::released, me, 7)));
}

}  // namespace
}  // namespace rowlock::test
