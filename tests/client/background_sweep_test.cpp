#include "client/keeper/background_sweep.hpp"

#include "support/background.hpp"
#include "support/fault_plan.hpp"
#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using client_layer::instant;
using testing::ElementsAre;
using testing::IsEmpty;

class background_sweep_test : public testing::Test {
 protected:
  ~background_sweep_test() override { faults->detach(); }

  static options settings(std::optional<std::chrono::milliseconds> interval) {
    options made;
    made.sweep_interval.reset();
    if (interval) made.sweep_interval = *interval;
    return made;
  }
  // A lease with that many locks, of another client, which then dies or expires.
  model::lease_id lease_with_locks(const std::vector<std::string>& names) {
    const auto id = model::lease_id::random();
    side->create_lease({id, id, "host", 1, "a rival", 30s});
    for (const auto& name : names) {
      side->create(std::vector<model::lock_definition>{{name}});
      const std::vector<store::acquire_item> wanted{
          {name, model::lock_kind::mutex, 1, id, model::hold_id::random()}};
      EXPECT_EQ(side->acquire(wanted).size(), 1U);
    }
    return id;
  }
  // The names whose sweeps were submitted since the last call.
  std::vector<std::string> submitted() {
    std::vector<std::string> names;
    queue.submit(client_layer::sweep_of("last"));
    while (names.empty() || names.back() != "last") {
      const auto batch = queue.take(client_layer::worker_role::everything);
      for (const auto& one : batch.releases) {
        EXPECT_EQ(one->purpose, client_layer::release_operation::aim::sweep);
        names.push_back(one->name);
      }
      queue.finish(batch);
    }
    names.pop_back();
    return names;
  }

  const std::shared_ptr<store::memory_server> server = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults = fault_plan::of(server);
  const std::unique_ptr<store::session> side = [this] {
    auto session = server->open()->connect();
    session->record_database_state();
    return session;
  }();
  virtual_time time;
  client_layer::client_environment shared{settings(1min), time};
  client_layer::keeper_agenda agenda;
  client_layer::submission_queue queue{shared, agenda};
  client_layer::session_slot slot{shared, [this] { return server->open()->connect(); }};
  client_layer::background_sweep sweep{shared, queue, slot};
};

TEST_F(background_sweep_test, is_first_due_after_an_interval_and_never_where_it_is_turned_off) {
  EXPECT_EQ(sweep.next(), instant::max());
  sweep.plan_first(time.now());
  EXPECT_EQ(sweep.next(), time.now() + 1min);
  sweep.plan_first(time.now() + 1h);
  EXPECT_EQ(sweep.next(), time.now() + 1min) << "a later lease changes no plan";
  client_layer::client_environment calm{settings({}), time};
  client_layer::background_sweep never{calm, queue, slot};
  never.plan_first(time.now());
  EXPECT_EQ(never.next(), instant::max());
}

TEST_F(background_sweep_test, leaves_the_living_alone) {
  const auto lease = lease_with_locks({"a"});
  sweep.step();
  EXPECT_TRUE(server->snapshot().leases.contains(lease));
  EXPECT_THAT(submitted(), IsEmpty());
  EXPECT_EQ(sweep.next(), time.now() + 1min);
}

TEST_F(background_sweep_test, kills_the_expired_and_then_has_their_locks_swept) {
  const auto lease = lease_with_locks({"a", "b"});
  server->expire(lease);
  sweep.step();
  EXPECT_FALSE(server->snapshot().leases.contains(lease));
  EXPECT_EQ(sweep.next(), time.now() + 100ms) << "another pass finds what the killed lease held";
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("a", "b"));
  EXPECT_EQ(sweep.next(), time.now() + 1min);
}

TEST_F(background_sweep_test, finds_what_a_lease_held_that_another_client_killed_meanwhile) {
  const auto lease = lease_with_locks({"a"});
  server->expire(lease);
  faults->hang("kill");
  auto pass = in_background([&] { sweep.step(); });
  while (server->blocked() == 0) std::this_thread::yield();
  EXPECT_EQ(side->kill({&lease, 1}, 0us).size(), 1U);
  server->unblock();
  pass.get();
  EXPECT_EQ(sweep.next(), time.now() + 100ms);
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("a"));
  EXPECT_EQ(sweep.next(), time.now() + 1min);
}

TEST_F(background_sweep_test, allows_for_the_skew) {
  shared.stored_skew_ms = 2000;
  const auto lease = lease_with_locks({"a"});
  server->expire(lease, 2s - 1ms);
  sweep.step();
  EXPECT_TRUE(server->snapshot().leases.contains(lease));
  server->expire(lease, 2s);
  sweep.step();
  EXPECT_FALSE(server->snapshot().leases.contains(lease));
}

TEST_F(background_sweep_test, a_name_is_submitted_once_by_each_sweep) {
  const auto dead = lease_with_locks({"a"});
  const auto expired = lease_with_locks({"b"});
  side->end(std::vector{dead});
  server->expire(expired);
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("a"));
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("b")) << "the second pass of the same sweep";
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("a", "b")) << "the next sweep finds them again";
}

TEST_F(background_sweep_test, reads_page_by_page_with_short_pauses) {
  std::vector<model::lock_definition> many;
  for (int i = 1000; i < 2500; ++i) many.push_back({"n" + std::to_string(i)});
  side->create(many);
  const auto dead = lease_with_locks({"z"});
  side->end(std::vector{dead});
  sweep.step();
  EXPECT_THAT(submitted(), IsEmpty());
  EXPECT_EQ(sweep.next(), time.now() + 5ms);
  sweep.step();
  EXPECT_THAT(submitted(), ElementsAre("z"));
  EXPECT_EQ(sweep.next(), time.now() + 1min);
}

// Another server's clock may be ahead of the one by which the leases were made (I5).
TEST_F(background_sweep_test, lengthens_all_leases_before_another_servers_clock_judges_them) {
  const auto lease = lease_with_locks({"a"});
  server->expire(lease);
  server->change_identity("memory/2");
  sweep.step();
  EXPECT_TRUE(server->snapshot().leases.contains(lease));
  EXPECT_EQ(server->snapshot().recorded_identity, "memory/2");
}

TEST_F(background_sweep_test, a_step_that_fails_stays_due) {
  sweep.plan_first(time.now());
  const auto due = sweep.next();
  faults->refuse("find_stale");
  EXPECT_THROW(sweep.step(), error);
  EXPECT_EQ(sweep.next(), due);
}

}  // namespace
}  // namespace rowlock::test
