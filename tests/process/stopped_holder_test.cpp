#include "process_test.hpp"

namespace rowlock::test {

namespace {

// A process that is stopped for longer than its ttl and still believes that it holds the lock: its machine
// pauses, a debugger stops it, or Ctrl-Z does.
class stopped_holder_test : public process_test {};

TEST_P(stopped_holder_test, knows_of_its_loss_and_can_begin_again) {
  book().create({"nightly"});
  auto brief = settings();
  brief.ttl = 6s;
  worker holder{brief};
  auto waiter = start();
  const auto before = holder.acquire("nightly");
  EXPECT_EQ(holder.ask("write"), "written");
  holder.stop();
  waiter.tell("acquire nightly");
  const auto after = waiter.grant(brief.ttl + slack);
  EXPECT_GT(after.token, before.token);
  EXPECT_EQ(waiter.ask("write"), "written");

  holder.go_on();
  EXPECT_EQ(holder.ask("state"), "invalid expired");
  EXPECT_TRUE(holder.ask("await_loss").starts_with("expired "));
  EXPECT_TRUE(holder.ask("write").starts_with("error hold_lost"));
  EXPECT_EQ(holder.ask("release"), "lost");

  holder.tell("acquire nightly");
  until_queued(1);
  EXPECT_EQ(waiter.ask("release"), "released");
  EXPECT_GT(holder.grant(slack).token, after.token);
  EXPECT_EQ(holder.ask("write"), "written");
  EXPECT_EQ(book().check().counted, 3);
}

// The process cannot know of the loss when it writes, so the database refuses the write.
TEST_P(stopped_holder_test, between_its_last_look_and_the_guard_is_refused_by_the_database) {
  auto holder = start();
  auto other = start();
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("stop_before_guard"), "stopping");
  until_stopped(holder.pid());
  expire_lease_of(holder);
  other.tell("acquire nightly");
  other.grant(slack);
  holder.go_on();
  EXPECT_EQ(holder.answer(), "refused");
}

TEST_P(stopped_holder_test, shorter_than_its_ttl_keeps_the_lock) {
  auto patient = settings();
  patient.ttl = 60s;
  worker holder{patient};
  holder.acquire("nightly");
  ASSERT_EQ(holder.ask("stop_before_guard"), "stopping");
  until_stopped(holder.pid());
  holder.go_on();
  EXPECT_EQ(holder.answer(), "allowed");
  EXPECT_EQ(holder.ask("release"), "released");
}

ROWLOCK_FOR_EACH_SQL_STORE(stopped_holder_test);

}  // namespace

}  // namespace rowlock::test
