#include "client/keeper/watchdog.hpp"

#include "client/parts_test.hpp"
#include "support/background.hpp"

#include <optional>

namespace rowlock::test {
namespace {

class watchdog_test : public parts_test {
 protected:
  watchdog_test() {
    begin();
    notifier.stop();
    notifier.run();
    runs.emplace([this] { dog.run(); });
  }
  ~watchdog_test() override { stop(); }

  void stop() {
    dog.stop();
    runs.reset();
  }
  client_layer::hold_ptr hold_on(const std::shared_ptr<client_layer::lease>& lease) {
    auto hold = std::make_shared<client_layer::hold_state>(engine, time, model::lock_definition{"a"},
                                                           model::hold_id::random(), 1, lease,
                                                           model::lock_mode::exclusive, 1);
    EXPECT_TRUE(engine->holds().add(hold, engine->holds().check_count()));
    return hold;
  }
  std::shared_ptr<client_layer::lease> explicit_ttl(std::chrono::milliseconds ttl) {
    auto lease = std::make_shared<client_layer::lease>(model::lease_id::random(), ttl, false,
                                                       engine->services().queue.lease()->id());
    lease->confirm(time.now(), {});
    return lease;
  }
  bool is_lost(const client_layer::hold_ptr& hold) {
    return eventually([&] { return !engine->holds().contains(hold->id()); });
  }

  client_layer::loss_notifier notifier{environment(), engine->holds()};
  client_layer::watchdog dog{environment(), engine->keeper(), engine->holds(),
                             notifier,      engine->async(),  {&slot}};
  std::optional<std::jthread> runs;
};

TEST_F(watchdog_test, loses_the_lease_at_its_deadline) {
  const auto lease = engine->services().queue.lease();
  time.advance(lease->deadline() - time.now() - 1ns);
  EXPECT_TRUE(lease->is_valid(time.now()));
  time.advance(1ns);
  EXPECT_TRUE(eventually([&] { return lease->is_ended(); }));
  EXPECT_TRUE(eventually([&] { return engine->services().queue.lease() == nullptr; }));
}

TEST_F(watchdog_test, loses_holds_of_an_explicit_ttl_and_no_others) {
  const auto kept = hold_on(engine->services().queue.lease());
  const auto later = hold_on(explicit_ttl(2s));
  const auto first = hold_on(explicit_ttl(1s));
  const auto token = first->stop_token();
  dog.check_again();
  time.advance(1s);
  EXPECT_TRUE(is_lost(first));
  EXPECT_TRUE(eventually([&] { return token.stop_requested(); }));
  EXPECT_EQ(first->loss(), loss::expired);
  EXPECT_TRUE(engine->holds().contains(later->id()));
  EXPECT_TRUE(engine->holds().contains(kept->id()));
  time.advance(1s);
  EXPECT_TRUE(is_lost(later));
}

// Without an earlier deadline the watchdog sleeps for a quarter of a second.
TEST_F(watchdog_test, looks_again_when_a_deadline_has_come_nearer) {
  virtual_time::let_others_sleep();
  const auto hold = hold_on(explicit_ttl(10ms));
  dog.check_again();
  time.advance(10ms);
  EXPECT_TRUE(is_lost(hold));
}

TEST_F(watchdog_test, breaks_the_connection_of_a_statement_that_hangs) {
  faults->hang("find");
  slot.open();
  auto statement = in_background(
      [&] { return code_of([&] { slot.call([](store::session& session) { return session.find({}); }); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  time.advance(environment().settings.statement_timeout);
  EXPECT_EQ(server->blocked(), 1U) << "the server's own timeout may still answer";
  time.advance(250ms);
  EXPECT_EQ(statement.get(), errc::unreachable);
}

TEST_F(watchdog_test, leaves_a_connection_alone_that_is_idle) {
  slot.open();
  time.advance(1h);
  EXPECT_TRUE(eventually([&] { return engine->services().queue.lease() == nullptr; }));
  EXPECT_FALSE(slot.call([](store::session& session) { return session.show("a"); }));
  EXPECT_EQ(environment().count.reconnects, 0U);
}

TEST_F(watchdog_test, ends_when_it_is_stopped) {
  stop();
  const auto hold = hold_on(explicit_ttl(10ms));
  time.advance(1h);
  EXPECT_TRUE(engine->holds().contains(hold->id()));
  EXPECT_EQ(hold->loss(), loss::expired) << "a hold past its deadline is never valid, told or not";
}

}  // namespace
}  // namespace rowlock::test
