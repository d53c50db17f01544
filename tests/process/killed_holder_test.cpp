#include "process_test.hpp"

namespace rowlock::test {

namespace {

class killed_holder_test : public process_test {};

TEST_P(killed_holder_test, its_lock_goes_to_the_waiter_within_the_ttl) {
  auto mortal = settings();
  mortal.ttl = 6s;
  worker holder{mortal};
  auto waiter = start();
  const auto before = holder.acquire("nightly");
  waiter.tell("acquire nightly");
  until_queued(1);
  holder.kill();
  const auto after = waiter.grant(mortal.ttl + slack);
  EXPECT_GT(after.token, before.token);
  EXPECT_EQ(waiter.ask("release"), "released");
}

TEST_P(killed_holder_test, its_lock_goes_to_the_first_of_several_waiters) {
  auto holder = start();
  const auto before = holder.acquire("nightly");
  std::vector<worker> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.push_back(start());
    waiters.back().tell("acquire nightly");
    until_queued(i + 1);
  }
  holder.kill();
  expire_lease_of(holder);
  auto token = before.token;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    const auto now = waiters[i].grant(slack);
    EXPECT_GT(now.token, token);
    EXPECT_EQ(queued(), static_cast<std::int64_t>(waiters.size() - i - 1));
    EXPECT_EQ(waiters[i].ask("release"), "released");
    token = now.token;
  }
}

TEST_P(killed_holder_test, its_lease_is_killed_and_the_name_is_free_for_an_attempt_that_does_not_wait) {
  auto holder = start();
  auto other = start();
  holder.acquire("nightly");
  EXPECT_EQ(other.ask("try nightly"), "busy");
  holder.kill();
  EXPECT_EQ(other.ask("try nightly"), "busy") << "it was taken from a lease that had not expired";
  expire_lease_of(holder);
  until(
      "the name is free", [&] { return other.ask("try nightly") != "busy"; }, slack);
  EXPECT_EQ(other.ask("release"), "released");
}

TEST_P(killed_holder_test, that_only_read_lets_the_writer_in_within_the_ttl) {
  auto reader = start();
  auto other = start();
  auto writer = start();
  EXPECT_TRUE(reader.ask("acquire_shared catalog").starts_with("granted "));
  EXPECT_TRUE(other.ask("acquire_shared catalog").starts_with("granted "));
  writer.tell("acquire_exclusive catalog");
  until_queued(1);
  reader.kill();
  EXPECT_EQ(other.ask("release"), "released");
  EXPECT_EQ(queued(), 1) << "the killed one's lease had not expired";
  expire_lease_of(reader);
  writer.grant(slack);
  EXPECT_EQ(writer.ask("release"), "released");
}

ROWLOCK_FOR_EACH_SQL_STORE(killed_holder_test);

}  // namespace

}  // namespace rowlock::test
