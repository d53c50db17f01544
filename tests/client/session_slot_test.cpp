// Connections that cannot be made, that hang, or that lead to a useless server.
#include "client/client_test.hpp"

#include <atomic>

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
    return std::async(std::launch::async, std::move(work));
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

// Stands for name resolution, which nothing can interrupt.
class deaf_database final : public store::database {
 public:
  explicit deaf_database(std::shared_ptr<store::database> real) : real_(std::move(real)) {}
  std::unique_ptr<store::session> connect(store::connect_watch& watch) override {
    if (is_deaf) {
      store::connect_watch nobody;
      ++connects;
      return real_->connect(nobody);
    }
    return real_->connect(watch);
  }
  std::string_view dialect() const noexcept override { return real_->dialect(); }
  std::string guard_sql(model::lock_mode mode) const override { return real_->guard_sql(mode); }

  std::atomic<bool> is_deaf{false};
  std::atomic<int> connects{0};

 private:
  std::shared_ptr<store::database> real_;
};

class deaf_connect_test : public session_slot_test {
 protected:
  client make(const options& settings) {
    return make_virtual_client(deaf, settings, std::shared_ptr<virtual_time>{std::shared_ptr<void>{}, &time});
  }
  // The clock belongs to the test, so every thread that reads it must have gone.
  void expect_nothing_left() {
    EXPECT_TRUE(eventually([&] { return server->sessions() == 0 && deaf.use_count() == 1; }));
  }
  std::shared_ptr<deaf_database> deaf = std::make_shared<deaf_database>(server->open());
};

TEST_F(deaf_connect_test, takes_no_longer_than_its_limit_and_leaves_nothing) {
  deaf->is_deaf = true;
  faults.hang("connect");
  auto made = beside([&] { return code_of([&] { std::ignore = make(calm()); }); });
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  advance(5s);
  ASSERT_TRUE(eventually([&] { return made.wait_for(1ms) == std::future_status::ready; }));
  EXPECT_EQ(made.get(), errc::unreachable);
  EXPECT_EQ(server->blocked(), 1U) << "it still hangs";
  server->unblock();
  expect_nothing_left();
}

TEST_F(deaf_connect_test, keeps_no_close_and_starts_no_more_than_a_few) {
  auto settings = calm();
  settings.connections = 2;
  auto db = std::make_optional(make(settings));
  auto held = std::make_optional(mutex(*db, "a").acquire());
  deaf->is_deaf = true;
  for (int i = 0; i < 100; ++i) faults.hang("connect");
  faults.lose_request("acquire");
  auto asked = std::make_optional<attempt>(*db, "b");
  ASSERT_TRUE(soon([&] { return server->blocked() == 1; }));
  for (int i = 0; i < 60; ++i) {
    pass_renewals(*db);
    if (server->blocked() == 3) break;
  }
  pass_renewals(*db, 3);
  EXPECT_EQ(deaf->connects, 3);
  EXPECT_EQ(held->release(), release_result::released) << "by the lease's connection";
  auto closed = beside([&] {
    const auto begun = time.now();
    db->close();
    return time.now() - begun;
  });
  ASSERT_TRUE(is_there(closed));
  EXPECT_LE(closed.get(), settings.close_timeout + 1s) << "and the attempts hang yet";
  EXPECT_EQ(code_of([&] { std::ignore = asked->take(); }), errc::closed);
  faults.forget();
  server->unblock();
  asked.reset();
  held.reset();
  db.reset();
  expect_nothing_left();
}

TEST_F(deaf_connect_test, connects_again_when_what_hung_has_ended) {
  auto settings = calm();
  settings.connections = 2;
  auto db = std::make_optional(make(settings));
  mutex(*db, "a").acquire().release();
  deaf->is_deaf = true;
  for (int i = 0; i < 3; ++i) faults.hang("connect");
  faults.lose_request("acquire");
  {
    attempt asked{*db, "b"};
    ASSERT_TRUE(soon([&] { return server->blocked() == 3; }));
    server->unblock();
    ASSERT_TRUE(soon([&] { return asked.is_over(); }));
    EXPECT_TRUE(asked.take());
  }
  EXPECT_TRUE(eventually([&] { return server->sessions() == 2; })) << "the late connections are closed";
  db.reset();
  expect_nothing_left();
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
