#include "client/keeper/process_lease.hpp"

#include "client/core/hold_state.hpp"
#include "support/fault_plan.hpp"
#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::hold_ptr;
using client_layer::instant;

class process_lease_test : public testing::Test {
 protected:
  process_lease_test() {
    notifier.stop();
    notifier.run();  // so that it notifies in this thread
  }
  ~process_lease_test() override { faults->detach(); }

  static options settings() {
    options made;
    made.ttl = 30s;
    made.margin = 1s;
    return made;
  }
  void advance(std::chrono::milliseconds by) {
    server->advance(by);
    time.advance(by);
  }
  std::shared_ptr<client_layer::lease> made() {
    const auto created = one.create();
    queue.use_lease(created.made);
    return created.made;
  }
  hold_ptr hold_on(const std::shared_ptr<client_layer::lease>& lease) {
    auto hold = std::make_shared<client_layer::hold_state>(nullptr, time, model::lock_definition{"a"},
                                                           model::hold_id::random(), 1, lease,
                                                           model::lock_mode::exclusive, 1);
    EXPECT_TRUE(holds.add(hold, holds.check_count()));
    return hold;
  }
  bool is_stored(const client_layer::lease& lease) const {
    return server->snapshot().leases.contains(lease.id());
  }
  bool sends_acquires() {
    const auto asked = std::make_shared<client_layer::acquire_operation>();
    const auto taken = queue.alone(asked);
    if (taken.empty()) return false;
    queue.finish(taken);
    return true;
  }
  // How long a lease lasts here: its ttl, less the margin and a thousandth of the ttl.
  static constexpr auto lifetime = 30s - 1s - 30ms;

  const std::shared_ptr<store::memory_server> server = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults = fault_plan::of(server);
  virtual_time time;
  client_layer::client_environment shared{settings(), time};
  client_layer::keeper_agenda agenda;
  client_layer::submission_queue queue{shared, agenda};
  client_layer::hold_registry holds{agenda};
  client_layer::loss_notifier notifier{shared, holds};
  client_layer::session_slot slot{shared, [this] { return server->open()->connect(); }};
  client_layer::process_lease one{shared, queue, holds, notifier, slot};
};

TEST_F(process_lease_test, is_stored_before_it_is_used) {
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_FALSE(sends_acquires());
  const auto created = one.create();
  EXPECT_TRUE(is_stored(*created.made));
  EXPECT_EQ(created.made->deadline(), created.sent_at + lifetime);
  EXPECT_FALSE(created.state.marker.empty());
  EXPECT_EQ(faults->count("listen"), 1);
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_FALSE(sends_acquires());
  queue.use_lease(created.made);
  EXPECT_EQ(queue.lease(), created.made);
  EXPECT_TRUE(sends_acquires());
}

TEST_F(process_lease_test, is_nobodys_when_it_could_not_be_stored) {
  faults->deny("create_lease");
  EXPECT_THROW(one.create(), error);
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_TRUE(server->snapshot().leases.empty());
}

TEST_F(process_lease_test, a_renewal_counts_from_when_it_was_sent) {
  const auto lease = made();
  advance(10s);
  EXPECT_TRUE(one.renew(time.now() - 1s));
  EXPECT_EQ(lease->deadline(), time.now() - 1s + lifetime);
  EXPECT_EQ(shared.count.renewals, 1U);
  EXPECT_EQ(shared.count.late_renewals, 0U);
  advance(16s);
  EXPECT_TRUE(one.renew(time.now()));
  EXPECT_EQ(shared.count.late_renewals, 1U) << "more than half of the ttl after the one before";
}

TEST_F(process_lease_test, past_its_deadline_it_is_never_renewed) {
  const auto lease = made();
  advance(lifetime - 1ms);
  EXPECT_EQ(queue.lease(), lease);
  advance(1ms);
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_FALSE(one.renew(time.now()));
  EXPECT_EQ(faults->count("renew"), 0);
}

TEST_F(process_lease_test, a_lease_that_is_gone_loses_its_holds_and_no_others) {
  const auto lease = made();
  const auto hold = hold_on(lease);
  const auto explicit_ttl =
      std::make_shared<client_layer::lease>(model::lease_id::random(), 1h, false, lease->id());
  explicit_ttl->confirm(time.now(), {});
  const auto other = hold_on(explicit_ttl);
  server->open()->connect()->end(std::vector{lease->id()});
  ASSERT_FALSE(one.renew(time.now()));
  EXPECT_EQ(hold->loss(), loss::gone);
  EXPECT_THAT(holds.all(), testing::ElementsAre(other));
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_TRUE(lease->is_ended());
  EXPECT_FALSE(sends_acquires());
}

TEST_F(process_lease_test, an_answer_that_comes_after_the_deadline_does_not_count) {
  const auto lease = made();
  const auto hold = hold_on(lease);
  server->on_call([&](store::memory_call& call) {
    if (call.after("renew")) time.advance(lifetime);
  });
  ASSERT_FALSE(one.renew(time.now()));
  EXPECT_EQ(hold->loss(), loss::expired);
  EXPECT_TRUE(lease->is_ended());
  EXPECT_TRUE(is_stored(*lease));
  EXPECT_EQ(shared.count.renewals, 0U);
}

TEST_F(process_lease_test, expires_at_its_deadline_and_once) {
  EXPECT_FALSE(one.expire(time.now())) << "there is none";
  const auto lease = made();
  const auto hold = hold_on(lease);
  EXPECT_EQ(one.expire(lease->deadline() - 1ns), lease->deadline());
  EXPECT_TRUE(holds.contains(hold->id()));
  EXPECT_FALSE(one.expire(lease->deadline()));
  EXPECT_EQ(hold->loss(), loss::expired);
  EXPECT_FALSE(sends_acquires());
  EXPECT_FALSE(one.expire(lease->deadline()));
  EXPECT_EQ(shared.count.read().lost, 1U);
}

TEST_F(process_lease_test, the_loss_of_an_old_lease_leaves_its_successor_alone) {
  const auto old = made();
  one.expire(old->deadline());
  const auto next = made();
  EXPECT_NE(next->id(), old->id());
  EXPECT_EQ(queue.lease(), next);
  EXPECT_EQ(one.expire(time.now()), next->deadline());
  EXPECT_TRUE(sends_acquires());
}

TEST_F(process_lease_test, a_lost_lease_is_ended_in_the_database_when_others_may_have_its_locks) {
  EXPECT_EQ(one.next_end(), instant::max());
  const auto lease = made();
  const auto expires_at = time.now() + 30s;
  one.expire(lease->deadline());
  EXPECT_EQ(one.next_end(), expires_at);
  one.end_lost();
  EXPECT_TRUE(is_stored(*lease));
  advance(30s);
  faults->refuse("end");
  EXPECT_THROW(one.end_lost(), error);
  EXPECT_EQ(one.next_end(), expires_at) << "it is tried again";
  one.end_lost();
  EXPECT_FALSE(is_stored(*lease));
  EXPECT_EQ(one.next_end(), instant::max());
}

TEST_F(process_lease_test, a_close_ends_it_and_its_holds) {
  const auto lost = made();
  one.expire(lost->deadline());
  const auto lease = made();
  const auto hold = hold_on(lease);
  one.end_all();
  EXPECT_EQ(hold->loss(), loss::closed);
  EXPECT_EQ(queue.lease(), nullptr);
  EXPECT_TRUE(lease->is_ended());
  EXPECT_FALSE(is_stored(*lease));
  EXPECT_TRUE(is_stored(*lost)) << "its time is not over";
  const auto ends = faults->count("end");
  one.end_all();
  EXPECT_EQ(faults->count("end"), ends);
}

}  // namespace
}  // namespace rowlock::test
