// A program that a user of rowlock starts gets none of the descriptors that rowlock has open.
#include "process_test.hpp"

namespace rowlock::test {

namespace {

class executed_program_test : public process_test {};

TEST_P(executed_program_test, gets_no_descriptor_of_rowlock) {
  book().create({"nightly", "weekly"});
  auto holder = start();
  auto user = start();
  holder.acquire("nightly");
  user.acquire("weekly");
  EXPECT_EQ(user.ask("sweep"), "swept");
  EXPECT_EQ(user.ask("load unguarded 2 1 nightly"), "loading");
  until_queued(2);
  // If rowlock is just making a connection, the program inherits it: docs/security.md.
  until("no descriptor is inherited", [&] { return user.ask("execute").empty(); });
  EXPECT_EQ(holder.ask("release"), "released");
  auto counts = user.counts("join", 30s);
  EXPECT_EQ(counts["failed"], 0) << user.reported();
  EXPECT_EQ(user.ask("release"), "released");
}

ROWLOCK_FOR_EACH_SQL_STORE(executed_program_test);

}  // namespace

}  // namespace rowlock::test
