// Which holds a check has covered, and which holds are notified when a lease ends.
#include "client/core/hold_registry.hpp"

#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::hold_ptr;
using client_layer::hold_state;
using client_layer::instant;
using client_layer::lease;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class hold_registry_test : public testing::Test {
 protected:
  hold_registry_test() { own->confirm(instant{30s} - own->ttl(), {}); }

  static std::shared_ptr<lease> explicit_lease(model::lease_id client, std::chrono::nanoseconds deadline) {
    auto made = std::make_shared<lease>(model::lease_id::random(), 1h, false, client);
    made->confirm(instant{deadline} - made->ttl(), {});
    return made;
  }
  hold_ptr hold_on(const std::shared_ptr<lease>& on) {
    return std::make_shared<hold_state>(nullptr, time, model::lock_definition{"a"}, model::hold_id::random(),
                                        1, on, model::lock_mode::exclusive, 1);
  }
  hold_ptr added(const std::shared_ptr<lease>& on) {
    auto hold = hold_on(on);
    EXPECT_TRUE(holds.add(hold, holds.check_count()));
    return hold;
  }

  virtual_time time;
  client_layer::keeper_agenda agenda;
  client_layer::hold_registry holds{agenda};
  const model::lease_id process = model::lease_id::random();
  const std::shared_ptr<lease> own = std::make_shared<lease>(process, 30s, true, process);
};

TEST_F(hold_registry_test, refuses_a_hold_whose_lease_is_over) {
  own->end();
  EXPECT_FALSE(holds.add(hold_on(own), holds.check_count()));
  EXPECT_TRUE(holds.empty());
}

TEST_F(hold_registry_test, hands_over_the_holds_of_a_lease_that_ends_and_no_others) {
  const auto on_it = added(own);
  const auto other = added(explicit_lease(process, 1h));
  EXPECT_THAT(holds.lose(*own, loss::gone), ElementsAre(on_it));
  EXPECT_EQ(on_it->loss(), loss::gone);
  EXPECT_THAT(holds.all(), ElementsAre(other));
}

TEST_F(hold_registry_test, loses_all_that_are_not_over_and_keeps_them) {
  const auto one = added(explicit_lease(process, 1h));
  const auto over = added(explicit_lease(process, 1h));
  EXPECT_TRUE(over->lose(loss::forced));
  EXPECT_THAT(holds.lose_all(loss::closed), ElementsAre(one));
  EXPECT_EQ(over->loss(), loss::forced);
  EXPECT_EQ(holds.size(), 2U);
}

TEST_F(hold_registry_test, notes_a_hold_that_a_check_has_missed) {
  int woken = 0;
  agenda.on_wake([&] { ++woken; });
  const auto sent = holds.check_count();
  EXPECT_THAT(holds.begin_check(), IsEmpty());
  const auto late = hold_on(own);
  EXPECT_TRUE(holds.add(late, sent));
  EXPECT_EQ(woken, 1);
  EXPECT_THAT(holds.unchecked(), ElementsAre(late));
  holds.checked(holds.unchecked());
  EXPECT_FALSE(holds.has_unchecked());
}

TEST_F(hold_registry_test, a_check_covers_what_was_there_and_what_was_asked_for_later) {
  const auto sent = holds.check_count();
  const auto before = hold_on(own);
  EXPECT_TRUE(holds.add(before, sent));
  EXPECT_THAT(holds.begin_check(), ElementsAre(before));
  added(own);
  EXPECT_FALSE(holds.has_unchecked());
}

TEST_F(hold_registry_test, knows_whose_notices_go_to_another_lease) {
  holds.receive_as(process);
  const auto one = added(explicit_lease(process, 1h));
  EXPECT_FALSE(holds.has_unreachable());
  holds.receive_as(model::lease_id::random());
  EXPECT_THAT(holds.next_unreachable(10), ElementsAre(one));
  const auto late = added(explicit_lease(process, 2h));
  EXPECT_THAT(holds.unchecked(), ElementsAre(late)) << "its check was requested before";
  EXPECT_THAT(holds.next_unreachable(10), UnorderedElementsAre(one, late));
  const auto first = holds.next_unreachable(1);
  EXPECT_NE(holds.next_unreachable(1), first);
  holds.remove(*one);
  holds.remove(*late);
  EXPECT_FALSE(holds.has_unreachable());
}

TEST_F(hold_registry_test, finds_explicit_ttls_in_the_order_of_their_ends) {
  added(own);
  const auto second = added(explicit_lease(process, 20s));
  const auto first = added(explicit_lease(process, 10s));
  EXPECT_EQ(holds.next_deadline(), instant{10s});
  EXPECT_THAT(holds.overdue(instant{10s}), ElementsAre(first));
  EXPECT_THAT(holds.overdue(instant{1h}), ElementsAre(first, second));
}

TEST_F(hold_registry_test, pages_come_round_to_each_hold) {
  std::vector<hold_ptr> all;
  for (int i = 0; i < 100; ++i) all.push_back(added(own));
  std::vector<hold_ptr> seen;
  for (int i = 0; i < 100; ++i) {
    for (auto& one : holds.next_page(10)) seen.push_back(std::move(one));
  }
  for (const auto& hold : all) EXPECT_THAT(seen, testing::Contains(hold));
}

}  // namespace
}  // namespace rowlock::test
