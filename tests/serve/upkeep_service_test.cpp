// Sweeps and collections on a schedule, by one of several processes.
#include "serve/serve_test.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;

class upkeep_service_test : public serve_test {
 protected:
  bool is_held(const std::string& name) {
    const auto found = store->open()->connect()->show(name);
    return found && !found->holders.empty();
  }

  // Kills a holder, and lets its lease expire.
  void leave_dead_holder(const std::string& name) {
    auto holder = hold(name);
    const auto lease = store->open()->connect()->show(name)->holders.at(0).lease.id;
    holder->send(SIGKILL);
    holder->wait();
    store->expire(lease);
  }
};

TEST_P(upkeep_service_test, one_process_sweeps_and_the_other_when_that_one_dies) {
  auto first = start_serve({"--sweep-every", "100ms"});
  // It may have said so before it listened.
  eventually("it leads", [&] { return is_held("rowlock/serve"); });
  auto second = start_serve({"--sweep-every", "100ms"});
  leave_dead_holder("one");
  eventually("it is swept", [&] { return !is_held("one"); });
  EXPECT_THAT(metrics_of(first, "rowlock_serve_leads"), HasSubstr(" 1\n"));
  EXPECT_THAT(metrics_of(second, "rowlock_serve_leads"), HasSubstr(" 0\n"));
  EXPECT_THAT(metrics_of(second, "rowlock_serve_sweeps_total"), HasSubstr(" 0\n"));

  const auto office = store->open()->connect()->show("rowlock/serve")->holders.at(0).lease.id;
  first.process->send(SIGKILL);
  first.process->wait();
  store->expire(office);
  while (second.process->read_error_line().find("leads 'rowlock/serve'") == std::string::npos) {
  }
  leave_dead_holder("two");
  eventually("it is swept", [&] { return !is_held("two"); });
  second.process->send(SIGTERM);
  EXPECT_EQ(second.process->wait().exit_code, 0);
  EXPECT_FALSE(is_held("rowlock/serve")) << "it has resigned";
}

TEST_P(upkeep_service_test, stops_at_once_when_it_loses_its_office) {
  auto server = start_serve({"--sweep-every", "100ms"});
  eventually("it leads", [&] { return is_held("rowlock/serve"); });
  ASSERT_EQ(rowlock({"release", "rowlock/serve", "--force"}).exit_code, 0);
  while (server.process->read_error_line().find("has lost 'rowlock/serve'") == std::string::npos) {
  }
  // It stands again.
  while (server.process->read_error_line().find("leads 'rowlock/serve'") == std::string::npos) {
  }
}

TEST_P(upkeep_service_test, collects_what_is_idle) {
  rowlock({"run", "old", "--", "true"});
  rowlock({"run", "new", "--", "true"});
  store->age("old", std::chrono::hours{48});
  const auto server = start_serve({"--sweep-every", "0", "--gc-idle", "1d", "--election", "upkeep"});
  eventually("the old one is gone", [&] { return !store->open()->connect()->show("old"); });
  EXPECT_TRUE(store->open()->connect()->show("new"));
  EXPECT_TRUE(is_held("upkeep"));
}

ROWLOCK_FOR_EACH_SQL_STORE(upkeep_service_test);

}  // namespace rowlock::test
