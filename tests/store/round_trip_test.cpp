// How many round trips the verbs take that a lock's user waits for, once their statements are prepared.
#include "store/loopback_proxy.hpp"
#include "store/open.hpp"
#include "store/session_steps.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowlock::test {
namespace {

class round_trip_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    session_ = store::open(proxy_.url(), fixture_->options())->connect();
    session_->record_database_state();
    lease_ = new_lease(*session_);
  }

  int taken_by(const std::function<void()>& verbs) const {
    const int before = proxy_.round_trips();
    verbs();
    return proxy_.round_trips() - before;
  }
  // The first two times prepare what the connection keeps.
  static int third_time(const std::function<int()>& measure) {
    measure();
    measure();
    return measure();
  }

  const std::unique_ptr<store_fixture> fixture_ = make_store_fixture(GetParam());
  loopback_proxy proxy_{fixture_->url()};
  std::unique_ptr<store::session> session_;
  lease_id lease_;
};

TEST_P(round_trip_test, an_acquire_and_its_release_take_one_each) {
  create(*session_, "a");
  EXPECT_EQ(third_time([&] {
              const claim wanted{"a", lease_, hold_id::random()};
              return taken_by([&] {
                EXPECT_TRUE(acquire(*session_, wanted));
                EXPECT_TRUE(release(*session_, wanted));
              });
            }),
            2);
}

TEST_P(round_trip_test, a_permit_and_its_release_take_one_each) {
  session_->create(std::vector<model::lock_definition>{{"s", model::lock_kind::semaphore, 5}});
  EXPECT_EQ(third_time([&] {
              const auto wanted = permits_of_five("s", lease_);
              const store::release_item back{"s", lease_, wanted.hold, model::lock_mode::shared};
              return taken_by([&] {
                EXPECT_EQ(session_->acquire({&wanted, 1}).size(), 1U);
                EXPECT_EQ(session_->release({&back, 1}, store::durability::asynchronous).size(), 1U);
              });
            }),
            2);
}

TEST_P(round_trip_test, a_batch_takes_as_many_as_a_single_request) {
  std::vector<model::lock_definition> locks;
  for (int i = 0; i < 16; ++i) locks.push_back({.name = std::to_string(10 + i)});
  session_->create(locks);
  EXPECT_EQ(third_time([&] {
              std::vector<store::acquire_item> wanted;
              std::vector<store::release_item> back;
              for (const auto& lock : locks) {
                wanted.push_back({.name = lock.name, .lease = lease_, .hold = hold_id::random()});
                back.push_back({lock.name, lease_, wanted.back().hold});
              }
              return taken_by([&] {
                EXPECT_EQ(session_->acquire(wanted).size(), locks.size());
                EXPECT_EQ(session_->release(back, store::durability::asynchronous).size(), locks.size());
              });
            }),
            2);
}

TEST_P(round_trip_test, entering_the_queue_and_a_hand_over_take_one_each) {
  create(*session_, "q");
  claim held{"q", lease_, hold_id::random()};
  ASSERT_TRUE(acquire(*session_, held));
  EXPECT_EQ(third_time([&] {
              const claim next{"q", lease_, hold_id::random()};
              const store::acquire_item waiter{.name = "q", .lease = lease_, .hold = next.hold};
              return taken_by([&] {
                EXPECT_TRUE(session_->enqueue(waiter, 0us));
                const auto passed = session_->hand_over({"q", lease_, std::exchange(held, next).hold}, 0us);
                ASSERT_TRUE(passed);
                EXPECT_EQ(passed->granted, next.hold);
              });
            }),
            2);
}

TEST_P(round_trip_test, a_renewal_takes_one) {
  EXPECT_EQ(third_time([&] { return taken_by([&] { EXPECT_TRUE(renew(*session_, lease_)); }); }), 1);
}

TEST_P(round_trip_test, an_edit_of_a_lock_without_waiters_takes_two) {
  create(*session_, "e");
  EXPECT_EQ(third_time([&] {
              return taken_by([&] {
                const auto raised = [](const store::lock_view& view) {
                  store::lock_change change;
                  change.row = view.row;
                  ++change.row->token;
                  return change;
                };
                EXPECT_EQ(edit(*session_, "e", raised), store::edit_result::committed);
              });
            }),
            2);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(round_trip_test);
INSTANTIATE_TEST_SUITE_P(stores, round_trip_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace
}  // namespace rowlock::test
