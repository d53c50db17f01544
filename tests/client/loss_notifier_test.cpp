#include "client/core/loss_notifier.hpp"

#include "client/core/hold_state.hpp"
#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::hold_ptr;
using testing::ElementsAre;
using testing::HasSubstr;

class loss_notifier_test : public testing::Test {
 protected:
  loss_notifier_test() { own->confirm(time.now(), {}); }

  hold_ptr added() {
    auto hold = std::make_shared<client_layer::hold_state>(nullptr, time, model::lock_definition{"a"},
                                                           model::hold_id::random(), 1, own,
                                                           model::lock_mode::exclusive, 1);
    EXPECT_TRUE(holds.add(hold, holds.check_count()));
    return hold;
  }
  // Does what the thread does until it is stopped and all losses are told.
  void tell_all() {
    notifier.stop();
    notifier.run();
  }
  options logging() {
    options settings;
    settings.log = [this](log_level, std::string_view line) { lines.emplace_back(line); };
    return settings;
  }

  std::vector<std::string> lines;
  virtual_time time;
  client_layer::client_environment shared{logging(), time};
  client_layer::keeper_agenda agenda;
  client_layer::hold_registry holds{agenda};
  client_layer::loss_notifier notifier{shared, holds};
  const model::lease_id process = model::lease_id::random();
  const std::shared_ptr<client_layer::lease> own =
      std::make_shared<client_layer::lease>(process, 30s, true, process);
};

TEST_F(loss_notifier_test, a_loss_is_marked_at_once_and_told_by_its_thread) {
  const auto hold = added();
  const auto token = hold->stop_token();
  std::thread::id told_by;
  const std::stop_callback on_loss{token, [&] { told_by = std::this_thread::get_id(); }};
  notifier.lose(hold, loss::forced);
  EXPECT_EQ(hold->loss(), loss::forced);
  EXPECT_FALSE(hold->is_released());
  EXPECT_FALSE(holds.contains(hold->id()));
  EXPECT_EQ(shared.count.read().lost, 1U);
  EXPECT_FALSE(token.stop_requested()) << "this thread calls no code of the user's";
  std::thread::id teller;
  {
    notifier.stop();
    const std::jthread tells{[&] { notifier.run(); }};
    teller = tells.get_id();
  }
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(told_by, teller);
}

TEST_F(loss_notifier_test, leaves_alone_what_is_released_or_lost_already) {
  const auto lost = added();
  notifier.lose(lost, loss::forced);
  notifier.lose(lost, loss::expired);
  EXPECT_EQ(lost->loss(), loss::forced);
  EXPECT_EQ(shared.count.read().lost, 1U);
  tell_all();
  EXPECT_EQ(lines.size(), 1U);
}

TEST_F(loss_notifier_test, the_log_is_written_when_all_holders_know) {
  const auto one = added();
  const auto other = added();
  const auto first = one->stop_token();
  const auto last = other->stop_token();
  const std::stop_callback on_first{first, [&] { lines.emplace_back("first holder"); }};
  const std::stop_callback on_last{last, [&] { lines.emplace_back("last holder"); }};
  notifier.lose(std::vector{one, other}, loss::gone);
  tell_all();
  EXPECT_THAT(lines, ElementsAre("first holder", "last holder", HasSubstr(one->id().to_string()),
                                 HasSubstr(other->id().to_string())));
  EXPECT_THAT(lines[2], testing::AllOf(HasSubstr("\"a\""), HasSubstr(to_string(loss::gone))));
}

TEST_F(loss_notifier_test, the_log_names_a_hundred_and_counts_the_others) {
  std::vector<hold_ptr> many;
  for (int i = 0; i < 103; ++i) many.push_back(added());
  notifier.lose(many, loss::expired);
  EXPECT_TRUE(holds.empty());
  EXPECT_EQ(shared.count.read().lost, 103U);
  tell_all();
  ASSERT_EQ(lines.size(), 101U);
  EXPECT_THAT(lines.back(), HasSubstr("3 more holds are lost"));
}

TEST_F(loss_notifier_test, tells_in_the_order_of_the_losses) {
  const auto one = added();
  const auto other = added();
  notifier.lose(one, loss::forced);
  notifier.lose(other, loss::forced);
  tell_all();
  EXPECT_THAT(lines, ElementsAre(HasSubstr(one->id().to_string()), HasSubstr(other->id().to_string())));
}

TEST_F(loss_notifier_test, tells_in_the_callers_thread_when_its_own_has_ended) {
  tell_all();
  const auto hold = added();
  const auto token = hold->stop_token();
  notifier.lose(hold, loss::closed);
  EXPECT_TRUE(token.stop_requested());
}

TEST_F(loss_notifier_test, counts_by_reason_at_once_and_the_time_when_the_holder_is_told) {
  const auto hold = std::make_shared<client_layer::hold_state>(nullptr, time, model::lock_definition{"a"},
                                                               model::hold_id::random(), 1, own,
                                                               model::lock_mode::exclusive, 1);
  hold->set_granted_at(time.now());
  EXPECT_TRUE(holds.add(hold, holds.check_count()));
  time.advance(5s);
  notifier.lose(hold, loss::gone);
  EXPECT_EQ(shared.count.read().lost_gone, 1U);
  EXPECT_EQ(shared.count.held.read().count(), 0U) << "no notification waits for this";
  tell_all();
  EXPECT_EQ(shared.count.held.read().count(), 1U);
  EXPECT_EQ(shared.count.held.read().sum, 5s);
}

TEST_F(loss_notifier_test, a_release_request_is_told_once_and_loses_nothing) {
  const auto hold = added();
  const auto token = hold->request_token();
  int told = 0;
  const std::stop_callback on_request{token, [&] { ++told; }};
  notifier.notify_request(hold, "a deploy", time.now() + 1min);
  notifier.notify_request(hold, "a deploy", time.now() + 2min);
  EXPECT_EQ(told, 0);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("a deploy")));
  tell_all();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(shared.count.release_requests, 1U);
  EXPECT_EQ(shared.count.read().lost, 0U);
  EXPECT_TRUE(holds.contains(hold->id()));
}

TEST_F(loss_notifier_test, a_lost_hold_is_asked_for_nothing) {
  const auto hold = added();
  const auto token = hold->request_token();
  notifier.lose(hold, loss::forced);
  notifier.notify_request(hold, "a deploy", time.now() + 1min);
  tell_all();
  EXPECT_FALSE(token.stop_requested());
}

}  // namespace
}  // namespace rowlock::test
