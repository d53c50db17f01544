#include "client/client_test.hpp"

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class admin_history_test : public client_test {
 protected:
  std::vector<std::string> events(const std::string& name) {
    std::vector<std::string> result;
    for (const auto& line : operations.history(name, 100)) result.push_back(line.event);
    std::ranges::reverse(result);
    return result;
  }
  void record(const std::string& pattern, std::int64_t keep = 100) {
    operations.record({pattern, keep, 24h});
  }

  admin operations{new_client()};
};

TEST_P(admin_history_test, tells_grants_and_hand_overs) {
  record("a");
  const client db = new_client();
  hold held = mutex(db, "a").acquire();
  auto waiter = waiting(new_client(), "a");
  held.release();
  waiter.take().release();
  mutex(db, "b").acquire().release();
  EXPECT_THAT(events("a"), ElementsAre("granted", "queued", "released", "handed over", "released"));
  EXPECT_THAT(events("b"), IsEmpty());
  const auto lines = operations.history("a", 100);
  EXPECT_EQ(lines.back().token, held.token());
  EXPECT_EQ(lines.back().application, "client tests");
  EXPECT_GT(lines.front().token, held.token());
}

TEST_P(admin_history_test, tells_forces_requests_and_losses_with_who) {
  record("a");
  const client db = new_client();
  hold held = mutex(db, "a").acquire();
  EXPECT_EQ(operations.request_release("a", {.reason = "deploy", .within = 0ms}),
            release_request_result::kept);
  EXPECT_TRUE(operations.release("a"));
  const hold next = mutex(db, "a").acquire();
  kill(lease_of("a"));
  mutex(new_client(), "a").acquire().release();
  EXPECT_THAT(events("a"), ElementsAre("granted", "release requested", "forced", "granted", "lost", "granted",
                                       "released"));
  const auto lines = operations.history("a", 100);
  EXPECT_THAT(lines[5].detail, testing::EndsWith(": deploy"));
  EXPECT_THAT(lines[4].detail, testing::StartsWith("by "));
  EXPECT_EQ(lines[2].token, next.token());
  EXPECT_EQ(lines[2].application, "client tests") << "the line of its grant says whose it was";
}

TEST_P(admin_history_test, batches_permits_and_joint_acquires_are_recorded_too) {
  record("r*");
  const client db = new_client();
  {
    mutex one(db, "r1");
    mutex other(db, "r2");
    const auto both = acquire_all({one, other});
    const hold some = counting_semaphore(db, "r3", 3).acquire(2);
  }
  EXPECT_THAT(events("r1"), ElementsAre("granted", "released"));
  EXPECT_THAT(events("r2"), ElementsAre("granted", "released"));
  EXPECT_THAT(events("r3"), ElementsAre("granted", "released"));
}

TEST_P(admin_history_test, a_running_client_begins_with_its_next_renewal) {
  const client db = new_client(quick_to_renew());
  mutex(db, "a").acquire().release();
  record("a");
  const auto recorded = [&] {
    mutex(db, "a").acquire().release();
    return !events("a").empty();
  };
  for (int i = 0; i < 3000 && !recorded(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(events("a").empty());
  EXPECT_TRUE(operations.stop_recording("a"));
  EXPECT_THAT(operations.recordings(), IsEmpty());
}

TEST_P(admin_history_test, a_closing_client_prunes_what_it_has_written) {
  record("a", 3);
  {
    const client db = new_client();
    for (int i = 0; i < 5; ++i) mutex(db, "a").acquire().release();
    EXPECT_EQ(events("a").size(), 10U);
  }
  EXPECT_EQ(events("a").size(), 3U);
}

TEST_P(admin_history_test, collect_deletes_the_history_of_names_that_are_recorded_no_more) {
  record("a");
  record("b");
  const client db = new_client();
  for (const auto* name : {"a", "b"}) mutex(db, name).acquire().release();
  EXPECT_TRUE(operations.stop_recording("a"));
  operations.collect(24h);
  EXPECT_THAT(events("a"), IsEmpty());
  EXPECT_EQ(events("b").size(), 2U);
}

TEST_P(admin_history_test, refuses_impossible_patterns) {
  for (const auto& wrong : {recording{"a*b", 1, 1h}, recording{"", 1, 1h}, recording{"a", 0, 1h},
                            recording{"a", 1, 0h}, recording{"a", 2'000'000, 1h}}) {
    EXPECT_THROW(operations.record(wrong), error);
  }
}

ROWLOCK_FOR_EACH_STORE(admin_history_test);

}  // namespace
}  // namespace rowlock::test
