// options::on_event.
#include "client/base/client_environment.hpp"
#include "client/client_test.hpp"
#include "support/background.hpp"

#include <atomic>
#include <cstddef>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class hold_event_test : public virtual_client_test {
 protected:
  using kind = hold_event::kind;

  options listening() {
    auto settings = calm();
    settings.on_event = [this](const hold_event& event) {
      const std::lock_guard lock{mutex_};
      events_.push_back(event);
    };
    return settings;
  }
  std::vector<hold_event> events() const {
    const std::lock_guard lock{mutex_};
    return events_;
  }
  std::vector<kind> kinds() const {
    std::vector<kind> all;
    for (const auto& event : events()) all.push_back(event.what);
    return all;
  }
  bool come(std::size_t count) {
    return eventually([&] { return events().size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<hold_event> events_;
};

TEST_F(hold_event_test, tells_of_a_grant_and_a_release) {
  const client db = new_client(listening());
  client other = new_client();
  hold first = mutex(other, "a").acquire();
  auto asked = waiting(db, "a");
  advance(5s);
  first.release();
  hold held = asked.take();
  ASSERT_TRUE(come(1));
  advance(3s);
  held.release();
  ASSERT_TRUE(come(2));
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::released));
  for (const auto& event : events()) {
    SCOPED_TRACE(to_string(event.what));
    EXPECT_EQ(event.name, "a");
    EXPECT_EQ(event.id, held.id());
    EXPECT_EQ(event.token, held.token());
    EXPECT_EQ(event.mode, lock_mode::exclusive);
    EXPECT_EQ(event.loss, loss::none);
    EXPECT_FALSE(event.request);
  }
  EXPECT_GE(events()[0].waited, 5s);
  EXPECT_EQ(events()[0].held, 0s);
  EXPECT_EQ(events()[1].waited, 0s);
  EXPECT_GE(events()[1].held, 3s);
  EXPECT_LT(events()[1].held, 5s) << "from the grant on";
}

TEST_F(hold_event_test, tells_of_each_hold_of_several_and_of_its_mode) {
  const client db = new_client(listening());
  shared_mutex rates{db, "rates"};
  auto all = acquire_all({mutex{db, "a"}, shared(rates)});
  ASSERT_TRUE(come(2));
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::granted));
  EXPECT_EQ(events()[0].mode, lock_mode::exclusive);
  EXPECT_EQ(events()[1].name, "rates");
  EXPECT_EQ(events()[1].mode, lock_mode::shared);
  all.release();
  ASSERT_TRUE(come(4));
  EXPECT_EQ(kinds()[2], kind::released);
  EXPECT_EQ(kinds()[3], kind::released);
}

TEST_F(hold_event_test, tells_of_an_adopted_hold_and_not_of_its_transfer) {
  const client db = new_client(listening());
  const auto text = mutex(db, "a").acquire().transfer(1h);
  const hold adopted = adopt(db, text);
  ASSERT_TRUE(come(2));
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::granted));
  EXPECT_EQ(events()[1].id, adopted.id());
}

TEST_F(hold_event_test, tells_of_a_loss_with_its_reason_after_the_holder) {
  std::stop_token stop;
  std::atomic<bool> holder_knew{false};
  auto settings = listening();
  settings.on_event = [&, also = settings.on_event](const hold_event& event) {
    if (event.what == kind::lost) holder_knew = stop.stop_requested();
    also(event);
  };
  const client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(come(1));
  stop = held.stop_token();
  faults.cut(true);
  time.advance(28'970ms);
  ASSERT_TRUE(come(2));
  const auto lost = events()[1];
  EXPECT_EQ(lost.what, kind::lost);
  EXPECT_EQ(lost.name, "a");
  EXPECT_EQ(lost.id, held.id());
  EXPECT_EQ(lost.token, held.token());
  EXPECT_EQ(lost.loss, loss::expired);
  EXPECT_GE(lost.held, 28s);
  EXPECT_TRUE(holder_knew);
}

TEST_F(hold_event_test, a_hold_that_the_close_ends_is_lost_and_told_before_the_close_returns) {
  client db = new_client(listening());
  const hold held = mutex(db, "a").acquire();
  db.close();
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::lost));
  EXPECT_EQ(events().back().loss, loss::closed);
}

TEST_F(hold_event_test, a_release_that_finds_no_hold_is_a_loss) {
  const client db = new_client(listening());
  hold held = mutex(db, "a").acquire();
  const auto lease = server->snapshot().locks.at("a").row.lease;
  ASSERT_TRUE(lease);
  const std::vector<store::release_item> items{{"a", *lease, model::hold_id{held.id()}}};
  ASSERT_EQ(server->open()->connect()->release(items, store::durability::durable).size(), 1U);
  EXPECT_EQ(held.release(), release_result::lost);
  ASSERT_TRUE(come(2));
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::lost));
  EXPECT_EQ(events().back().id, held.id());
  EXPECT_EQ(events().back().loss, loss::none);
  EXPECT_EQ(db.stats().held.count(), 0U) << "when it ended is unknown";
  EXPECT_EQ(db.stats().lost, 1U);
}

TEST_F(hold_event_test, tells_of_the_first_release_request) {
  const client db = new_client(listening());
  client other = new_client();
  hold held = mutex(db, "a").acquire();
  for (const auto* reason : {"deploy", "again"}) {
    std::ignore = admin{other}.request_release("a", {.reason = reason, .within = 0ms});
    ASSERT_TRUE(soon([&] { return held.request() && held.request()->reason == reason; }));
  }
  held.release();
  ASSERT_TRUE(come(3));
  EXPECT_THAT(kinds(), ElementsAre(kind::granted, kind::release_requested, kind::released));
  const auto asked = events()[1];
  EXPECT_EQ(asked.name, "a");
  EXPECT_EQ(asked.id, held.id());
  ASSERT_TRUE(asked.request);
  EXPECT_EQ(asked.request->reason, "deploy");
  EXPECT_EQ(db.stats().release_requests, 1U);
}

TEST_F(hold_event_test, a_busy_lock_is_no_event) {
  const client db = new_client(listening());
  client other = new_client();
  const hold held = mutex(other, "a").acquire();
  EXPECT_FALSE(mutex(db, "a").try_acquire());
  mutex(db, "b").acquire().release();
  ASSERT_TRUE(come(2));
  for (const auto& event : events()) EXPECT_EQ(event.name, "b");
}

TEST_F(hold_event_test, the_function_may_use_the_client_and_throw) {
  std::optional<client> db;
  std::atomic<bool> granted{false};
  auto settings = listening();
  settings.on_event = [&, also = settings.on_event](const hold_event& event) {
    also(event);
    if (event.name == "a" && event.what == kind::granted) granted = mutex(*db, "b").try_acquire().valid();
    throw std::runtime_error("ignored");
  };
  db = new_client(settings);
  mutex(*db, "a").acquire().release();
  ASSERT_TRUE(come(4));
  EXPECT_TRUE(granted) << "no mutex of the client is locked meanwhile";
  db.reset();
}

TEST_F(hold_event_test, the_close_waits_for_a_running_call) {
  std::promise<void> called;
  std::promise<void> go_on;
  std::atomic<bool> left{false};
  auto settings = listening();
  settings.on_event = [&, also = settings.on_event, first = true](const hold_event& event) mutable {
    also(event);
    if (!std::exchange(first, false)) return;
    called.set_value();
    go_on.get_future().wait();
    left = true;
  };
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  ASSERT_EQ(called.get_future().wait_for(30s), std::future_status::ready);
  close_beside_user_code(db, go_on);
  EXPECT_TRUE(left);
}

TEST_F(hold_event_test, what_it_is_too_slow_for_is_counted) {
  constexpr std::size_t pairs = 5'050;
  std::promise<void> go_on;
  auto settings = listening();
  settings.on_event = [&, also = settings.on_event, first = true](const hold_event& event) mutable {
    if (std::exchange(first, false)) go_on.get_future().wait();
    also(event);
  };
  const client db = new_client(settings);
  mutex a{db, "a"};
  for (std::size_t i = 0; i < pairs; ++i) a.acquire().release();
  const auto left_out = db.stats().events_left_out;
  EXPECT_GE(left_out, 99U);
  EXPECT_LE(left_out, 100U) << "one may be in the call already";
  go_on.set_value();
  EXPECT_TRUE(come(2 * pairs - left_out));
}

TEST_F(hold_event_test, without_a_function_there_are_none) {
  const client db = new_client();
  mutex(db, "a").acquire().release();
  EXPECT_THAT(events(), IsEmpty());
  EXPECT_EQ(db.stats().events_left_out, 0U);
}

TEST(hold_event_making_test, is_left_out_without_a_function_and_if_there_is_no_memory) {
  virtual_time time;
  const client_layer::client_environment without{options{}, time};
  without.tell([]() -> hold_event {
    ADD_FAILURE() << "it costs nothing";
    return {};
  });
  EXPECT_EQ(without.stats().events_left_out, 0U);
  options settings;
  settings.on_event = [](const hold_event&) {};
  const client_layer::client_environment shared{settings, time};
  shared.tell([]() -> hold_event { throw std::bad_alloc{}; });
  EXPECT_EQ(shared.stats().events_left_out, 1U);
}

TEST(hold_event_kind_test, has_a_name) {
  using kind = hold_event::kind;
  EXPECT_STREQ(to_string(kind::granted), "granted");
  EXPECT_STREQ(to_string(kind::released), "released");
  EXPECT_STREQ(to_string(kind::lost), "lost");
  EXPECT_STREQ(to_string(kind::release_requested), "release requested");
}

}  // namespace
}  // namespace rowlock::test
