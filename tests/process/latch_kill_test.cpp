#include "kill_test.hpp"

#include <algorithm>

namespace rowlock::test {

namespace {

constexpr std::int64_t far_more = 1'000'000;  // more than is counted before the test counts down the rest

// Computed from the witness's lines in their order.
struct count_report {
  std::int64_t begun = 0;
  std::int64_t counted = 0;
  std::int64_t done = 0;
  std::int64_t faults = 0;  // moments at which more was counted than had begun, or less than was done
  std::int64_t went_on = 0;
  std::int64_t too_early = 0;  // waiters that went on before the last count
};

count_report report_on_count(const std::vector<witness_line>& lines, std::int64_t capacity) {
  count_report found;
  for (const auto& line : lines) {
    if (line.what == "counts") ++found.begun;
    if (line.what == "permitted") found.counted += line.weight;
    if (line.what == "counted") ++found.done;
    if (found.counted < capacity && (found.counted > found.begun || found.counted < found.done))
      ++found.faults;
    if (line.what != "went on") continue;
    ++found.went_on;
    if (found.counted < capacity) ++found.too_early;
  }
  return found;
}

class latch_kill_test : public kill_test {
 protected:
  count_report report() { return report_on_count(witness().lines(), far_more); }
};

TEST_P(latch_kill_test, counts_everybody_once_and_lets_the_others_go_on) {
  constexpr int turns = 4;
  witness().create();
  const auto of_latch = " ready " + std::to_string(far_more);
  crew counters{mortal(), "load count_down 1 0" + of_latch, 3};
  crew waiters{mortal(), "load await_latch 1 1" + of_latch, 3};
  for (int turn = 0; turn < turns; ++turn) {
    until_some_moment(200ms);
    counters.kill_one(random());
    until("a waiter is killed", [&] { return waiters.kill_one_of([&] { return waiting(); }, random()); });
    const auto before = said("counted");
    until("others count on", [&] { return said("counted") >= before + 20; });
  }
  auto counts = counters.halt();
  EXPECT_EQ(counts["broken"], 0);
  auto found = report();
  EXPECT_EQ(found.faults, 0);
  EXPECT_LE(found.begun - found.done, turns + counts["result_without_answer"])
      << "more calls than the killed ones have no end";
  EXPECT_EQ(number("SELECT in_use FROM @lock"), found.counted);

  until("all that live wait", [&] { return waiters.count_of(waiting()) == 3; });
  auto last = start();
  const auto rest = std::to_string(far_more - found.counted - 1);
  EXPECT_EQ(last.ask("count_down" + of_latch + " " + rest), "counted");
  EXPECT_EQ(waiters.count_of(waiting()), 3U) << "it was open too early";
  EXPECT_EQ(last.ask("count_down" + of_latch), "counted");
  EXPECT_EQ(waiters.join()["written"], 3);
  found = report_on_count(witness().lines(), far_more);
  EXPECT_EQ(found.counted, far_more);
  EXPECT_EQ(found.went_on, 3);
  EXPECT_EQ(found.too_early, 0);
  EXPECT_EQ(queued(), 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(latch_kill_test);

}  // namespace

}  // namespace rowlock::test
