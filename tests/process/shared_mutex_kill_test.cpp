#include "kill_test.hpp"
#include "model/lock.hpp"

namespace rowlock::test {

namespace {

class shared_mutex_kill_test : public kill_test {};

TEST_P(shared_mutex_kill_test, keeps_writers_alone_and_everybody_in_turn) {
  const auto somebody_writes_and_some_read_together = [](const visits_report& report) {
    return report.most_together >= model::shared_mutex_capacity && report.most_sharing > 1;
  };
  const auto found = kill_holders_and_waiters("load shared_mutex 2 0 catalog", model::shared_mutex_capacity,
                                              somebody_writes_and_some_read_together);
  expect_order(found);
  EXPECT_EQ(found.most_together, model::shared_mutex_capacity) << "nobody wrote";
  EXPECT_GT(found.most_sharing, 1) << "nobody read beside another";
  auto survivor = start();
  EXPECT_TRUE(survivor.ask("acquire_exclusive catalog").starts_with("granted "));
  survivor.finish();
  until_nothing_is_left();
}

TEST_P(shared_mutex_kill_test, lets_nobody_in_between_when_a_writer_reads_on_or_a_reader_writes) {
  constexpr int turns = 3;
  witness().create();
  const auto report = [this] { return report_on(witness().lines(), model::shared_mutex_capacity); };
  crew all{mortal(), "load conversion 1 0 catalog", 3};
  // The chosen process may have left when the signal comes; then there is another turn.
  for (int turn = 0; turn < turns || report().killed_inside == 0; ++turn) {
    const auto before = report();
    until_some_moment(100ms);
    until("one inside is killed", [&] { return all.kill_one_of([&] { return report().inside; }, random()); });
    until("others change over after it", [&] {
      const auto now = report();
      return now.heavier >= before.heavier + 4 && now.lighter >= before.lighter + 4;
    });
  }
  until("some read together", [&] { return report().most_sharing > 1; });
  halt(all);
  const auto found = report();
  EXPECT_EQ(found.overfull, 0);
  EXPECT_EQ(found.token_faults, 0);
  EXPECT_GT(found.killed_inside, 0);
  EXPECT_GT(found.most_sharing, 1) << "nobody read beside another";
}

ROWLOCK_FOR_EACH_SQL_STORE(shared_mutex_kill_test);

}  // namespace

}  // namespace rowlock::test
