#include "kill_test.hpp"
#include "support/long_run.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>

namespace rowlock::test {

worker_settings kill_test::mortal() const {
  auto made = settings();
  // SQLite lets one connection write at a time and does not serve the longest waiter first. On a busy machine
  // a process that was not killed might lose its lease.
  made.close_timeout = 30s;
  made.ttl = dialect() == dialect::sqlite ? 1'500ms : 1'000ms;
  return made;
}

visits_report kill_test::kill_holders_and_waiters(const std::string& load, std::int64_t capacity,
                                                  const condition& as_wanted) {
  witness().create();
  const auto report = [&] { return report_on(witness().lines(), capacity); };
  const auto is_enough = [&](const visits_report& found) {
    // More visits must have waited than expect_order() needs, because some visits follow.
    return found.killed_inside >= 2 && found.killed_waiting >= 2 && found.queued > found.visits / 3 &&
           (!as_wanted || as_wanted(found));
  };
  crew all{mortal(), load, 4};
  const auto end = std::chrono::steady_clock::now() + (is_long_run() ? 60s : 0s);
  auto found = report();
  while (!is_enough(found) || std::chrono::steady_clock::now() < end) {
    const auto before = said("came");
    until_some_moment(100ms);
    until("one inside is killed", [&] { return all.kill_one_of([&] { return report().inside; }, random_); });
    until_some_moment(100ms);
    until("a waiter is killed", [&] { return all.kill_one_of([&] { return waiting(); }, random_); });
    until("others come after the killed ones", [&] { return said("came") >= before + 15; });
    found = report();
    if (std::chrono::steady_clock::now() > end + 60s) {
      throw std::runtime_error(
          fmt::format("the load does not come to what the test is about: {} visits, {} of which queued; "
                      "killed {} inside and {} waiting; at most {} inside, of weight {}",
                      found.visits, found.queued, found.killed_inside, found.killed_waiting,
                      found.most_sharing, found.most_together));
    }
  }
  halt(all);
  return report();
}

void kill_test::halt(crew& all) {
  const auto counts = all.halt();
  EXPECT_EQ(counts.at("wrong"), 0);
  EXPECT_EQ(counts.at("broken"), 0);
  EXPECT_EQ(counts.at("unreleased") + counts.at("pending"), 0);
}

void kill_test::expect_order(const visits_report& found) {
  EXPECT_EQ(found.overfull, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_EQ(found.overtaken, 0);
  // If hardly anybody had waited, the order would show nothing.
  EXPECT_GT(found.queued, found.visits / 4);
}

void kill_test::until_nothing_is_left() {
  auto sweeper = start();
  until("nothing is left of the dead", [&] {
    sweeper.ask("sweep");
    return queued() == 0 && leases() == 0 && number("SELECT count(*) FROM @permit") == 0 &&
           number("SELECT count(*) FROM @lock WHERE in_use <> 0 OR hold_id IS NOT NULL") == 0;
  });
}

std::int64_t kill_test::said(const std::string& what) {
  return number("SELECT count(*) FROM @witness WHERE what = $1", {what});
}

void kill_test::until_some_moment(std::chrono::microseconds within) {
  std::this_thread::sleep_for(
      std::chrono::microseconds{std::uniform_int_distribution<std::int64_t>{0, within.count()}(random_)});
}

std::set<std::int64_t> kill_test::waiting() {
  std::set<std::int64_t> pids;
  const auto rows = sql().run("SELECT l.pid FROM " + prefix() + "queue AS q JOIN " + prefix() +
                              "lease AS l ON l.id = q.lease_id");
  for (const auto& row : rows) pids.insert(std::stoll(row.at(0)));
  return pids;
}

}  // namespace rowlock::test
