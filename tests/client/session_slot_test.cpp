// Connections that cannot be made, that hang, or that lead to a useless server.
#include "client/client_test.hpp"

#include "support/background.hpp"

namespace rowlock::test {
namespace {

class session_slot_test : public virtual_client_test {
 protected:
  template <class Answer>
  bool is_there(std::future<Answer>& answer) {
    return soon([&] { return answer.wait_for(0s) == std::future_status::ready; });
  }
  template <class Work>
  static auto beside(Work work) {
    return in_background(std::move(work));
  }
};

TEST_F(session_slot_test, a_release_needs_no_connection_of_its_own_on_a_full_server) {
  client db = new_client();
  faults.refuse_unreachable("connect", 100'000);
  hold held = mutex(db, "a").acquire();
  auto released = beside([&] { return held.release(); });
  EXPECT_TRUE(eventually([&] { return released.wait_for(1ms) == std::future_status::ready; }))
      << "no time passes, so it waits for no connection";
  EXPECT_EQ(released.get(), release_result::released);
  EXPECT_EQ(holder_of("a"), "");
  auto listed = beside([&] { return admin(db).list().size(); });
  EXPECT_TRUE(is_there(listed));
  EXPECT_EQ(listed.get(), 1U);
}

TEST_F(session_slot_test, a_release_waits_for_no_attempt_to_connect_that_hangs) {
  client db = new_client();
  faults.hang("connect");
  hold held = mutex(db, "a").acquire();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  for (int i = 0; i < 3; ++i) {
    auto released = beside([&] { return held.release(); });
    ASSERT_TRUE(eventually([&] { return released.wait_for(1ms) == std::future_status::ready; }));
    EXPECT_EQ(released.get(), release_result::released);
    held = mutex(db, "a").acquire();
  }
  EXPECT_EQ(server->blocked(), 1U);
}

TEST_F(session_slot_test, each_duty_goes_back_to_its_own_connection) {
  client db = new_client();
  faults.refuse_unreachable("connect", 3);
  mutex(db, "a").acquire().release();
  EXPECT_TRUE(soon([&] { return server->sessions() == 3; }));
  faults.hang("acquire");
  attempt asked{db, "b"};
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  EXPECT_EQ(admin(db).list().size(), 1U) << "an acquire that hangs must not delay other calls";
}

TEST_F(session_slot_test, a_client_is_not_made_that_could_renew_and_not_release) {
  faults.refuse_unreachable("connect", 1, 1);
  EXPECT_EQ(code_of([&] { std::ignore = new_client(); }), errc::unreachable);
  EXPECT_EQ(server->sessions(), 0U) << "and it leaves its place to others";
}

TEST_F(session_slot_test, to_connect_takes_no_longer_than_its_limit) {
  faults.hang("connect");
  auto made = beside([&] { return code_of([&] { std::ignore = new_client(); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(4'999ms);
  EXPECT_EQ(made.wait_for(20ms), std::future_status::timeout);
  advance(1ms);
  ASSERT_TRUE(eventually([&] { return made.wait_for(1ms) == std::future_status::ready; }));
  EXPECT_EQ(made.get(), errc::unreachable);
}

TEST_F(session_slot_test, to_connect_again_takes_no_longer_than_its_limit) {
  auto settings = calm();
  settings.connections = 2;
  client db = new_client(settings);
  mutex(db, "a").acquire().release();
  faults.hang("connect");
  faults.lose_request("acquire");
  attempt asked{db, "a"};
  ASSERT_TRUE(soon([&] { return server->blocked() == 1; }));
  advance(5s);
  ASSERT_TRUE(soon([&] { return asked.is_over(); }));
  EXPECT_TRUE(asked.take());
}

TEST_F(session_slot_test, a_server_that_became_read_only_is_left_with_growing_pauses) {
  auto settings = calm();
  settings.connections = 2;
  client db = new_client(settings);
  mutex(db, "a").acquire().release();
  const auto statements = db.stats().statements;
  faults.refuse_read_only("acquire");
  faults.refuse_read_only("connect", 100'000);
  attempt asked{db, "a"};
  const auto connects = faults.count("connect");
  ASSERT_TRUE(soon([&] { return faults.count("connect") >= connects + 8; }));
  EXPECT_LE(db.stats().statements, statements + 2);
  const auto tries = faults.count("connect");
  for (int i = 0; i < 200; ++i) {
    advance(50ms);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_LE(faults.count("connect"), tries + 60) << "in ten seconds";
  EXPECT_FALSE(asked.is_over());
  faults.forget();
  ASSERT_TRUE(soon([&] { return asked.is_over(); })) << "the next address accepts writes";
  EXPECT_TRUE(asked.take());
  EXPECT_GE(db.stats().reconnects, 1U);
}

TEST_F(session_slot_test, a_release_keeps_its_limit_however_many_statements_it_takes) {
  auto settings = calm();
  settings.close_timeout = 2s;
  client db = new_client(settings);
  hold held = mutex(db, "a").acquire();
  auto waiter = waiting(db, "a");
  const auto began = time.now();
  faults.hang("hand_over");
  faults.hang("edit");
  auto released = beside([&] { return held.release(); });
  ASSERT_TRUE(eventually([&] {
    time.advance(10ms);
    return released.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_LT(time.now() - began, 2'500ms);
  faults.forget();
  server->unblock();
  EXPECT_TRUE(soon([&] { return waiter.is_over(); }));
}

}  // namespace
}  // namespace rowlock::test
