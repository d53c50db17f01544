#include "process_test.hpp"

namespace rowlock::test {

namespace {

class fork_test : public process_test {};

TEST_P(fork_test, refuses_the_child_and_leaves_the_parent_alone) {
  book().create({"nightly"});
  auto brief = settings();
  brief.ttl = 6s;
  worker parent{brief};
  auto other = start();
  const auto before = parent.acquire("nightly");
  EXPECT_EQ(parent.ask("write"), "written");
  // Three children, because the harm of one child's exit may show only in the next one.
  for (int i = 0; i < 3; ++i) ASSERT_EQ(parent.ask("fork nightly"), "refused");

  EXPECT_EQ(parent.ask("state"), "valid none");
  EXPECT_EQ(parent.ask("write"), "written");
  EXPECT_EQ(other.ask("try nightly"), "busy");
  // The parent's lease is still renewed, so the hold outlives the ttl.
  const auto lease = "lease WHERE pid = " + std::to_string(parent.pid());
  const auto expiry = [&] { return sql().run("SELECT expires_at FROM " + prefix() + lease).at(0).at(0); };
  const auto ends = expiry();
  until("the parent's lease is renewed", [&] { return expiry() != ends; });
  EXPECT_EQ(other.ask("try nightly"), "busy");
  EXPECT_EQ(parent.ask("state"), "valid none");
  EXPECT_EQ(parent.ask("release"), "released");
  EXPECT_GT(parent.acquire("nightly").token, before.token);
  EXPECT_EQ(parent.ask("write"), "written");
  EXPECT_EQ(book().check().counted, 3);
}

ROWLOCK_FOR_EACH_SQL_STORE(fork_test);

// After the fork the server must still know the same backends.
class forked_connection_test : public process_test {};

TEST_P(forked_connection_test, is_left_open) {
  auto parent = start();
  // The first acquire starts the threads, each of which makes its connection.
  parent.acquire("nightly");
  until("all connections are made", [&] { return backends().size() == 3; });
  const auto before = backends();
  ASSERT_EQ(parent.ask("fork nightly"), "refused");
  EXPECT_EQ(parent.ask("release"), "released");
  parent.acquire("nightly");
  EXPECT_EQ(backends(), before);
}

// No thread has started that could keep an object from being destroyed.
TEST_P(forked_connection_test, is_left_open_before_its_first_use) {
  auto parent = start();
  const auto before = backends();
  ASSERT_EQ(parent.ask("fork nightly"), "refused");
  // When the server answers a new session, it has read what the child may have sent.
  reconnect();
  EXPECT_EQ(backends(), before);
  EXPECT_GT(parent.acquire("nightly").token, 0);
}

ROWLOCK_FOR_EACH_SERVER(forked_connection_test);

}  // namespace

}  // namespace rowlock::test
