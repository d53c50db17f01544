#include "process_test.hpp"

namespace rowlock::test {

namespace {

// Holds are transferred from one process to another while a third one waits.
class transferred_hold_test : public process_test {
 protected:
  void SetUp() override {
    process_test::SetUp();
    auto patient = settings();
    patient.ttl = 1min;  // nothing expires here
    for (int i = 0; i < 3; ++i) workers_.emplace_back(patient);
    before_ = first().acquire("nightly");
    waiter().tell("acquire nightly");
    until_queued(1);
  }
  void TearDown() override {
    workers_.clear();
    process_test::TearDown();
  }

  worker& first() { return workers_[0]; }
  worker& second() { return workers_[1]; }
  worker& waiter() { return workers_[2]; }
  // The text with which the first process transfers its hold.
  std::string text(const std::string& command) {
    const auto said = first().ask(command);
    EXPECT_TRUE(said.starts_with("text ")) << said;
    return said.substr(said.find(' ') + 1);
  }
  void expect_waiter_after(const granted& holder) {
    EXPECT_EQ(number("SELECT token FROM @lock"), holder.token);
    EXPECT_EQ(queued(), 1) << "the waiter was granted in between";
    EXPECT_EQ(second().ask("release"), "released");
    EXPECT_GT(waiter().grant().token, holder.token);
    EXPECT_EQ(waiter().ask("release"), "released");
  }

  granted before_;

 private:
  std::vector<worker> workers_;
};

TEST_P(transferred_hold_test, is_handed_over_and_outlives_its_first_process) {
  const auto note = text("transfer");
  first().finish();
  second().tell("adopt " + note);
  const auto adopted = second().grant();
  EXPECT_EQ(adopted.token, before_.token);
  expect_waiter_after(adopted);
}

TEST_P(transferred_hold_test, is_reclaimed_from_a_process_that_was_killed_and_from_no_other) {
  const auto note = text("receipt");
  EXPECT_TRUE(second().ask("reclaim " + note).starts_with("error contention"));
  first().kill();
  second().tell("reclaim " + note);
  const auto reclaimed = second().grant();
  EXPECT_GT(reclaimed.token, before_.token);
  expect_waiter_after(reclaimed);
}

ROWLOCK_FOR_EACH_SQL_STORE(transferred_hold_test);

}  // namespace

}  // namespace rowlock::test
