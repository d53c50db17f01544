#include "client/connection/dialer.hpp"

#include "client/client_test.hpp"
#include "support/background.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <vector>

namespace rowlock::test {
namespace {

// Stands in for name resolution, which nothing can interrupt.
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

class dialer_test : public testing::Test {
 protected:
  ~dialer_test() override {
    dials->close();
    faults->detach();
    EXPECT_TRUE(eventually([&] { return server->sessions() == 0 && database.use_count() == 1; }))
        << "attempts that were left behind have ended, and left nothing";
  }

  using session_ptr = std::unique_ptr<store::session>;
  std::future<session_ptr> dialing() {
    return in_background([this] { return dials->connect(database); });
  }
  // The error of an attempt that takes too long.
  error too_late(std::future<session_ptr> attempt) {
    try {
      attempt.get();
    } catch (const error& thrown) {
      return thrown;
    }
    return {errc::internal, "nothing was thrown"};
  }
  // Begins an attempt that hangs, lets its time pass, and returns its error.
  error leave_one_behind() {
    faults->hang("connect");
    const auto blocked = server->blocked();
    auto attempt = dialing();
    EXPECT_TRUE(eventually([&] { return server->blocked() == blocked + 1; }));
    time.advance(limit);
    return too_late(std::move(attempt));
  }
  static constexpr auto limit = 5s;  // options::connect_timeout

  const std::shared_ptr<store::memory_server> server = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults = fault_plan::of(server);
  const std::shared_ptr<deaf_database> database = std::make_shared<deaf_database>(server->open());
  virtual_time time;
  client_layer::client_environment shared{{}, time};
  std::optional<client_layer::dialer> dials{shared};
};

TEST_F(dialer_test, gives_the_session_or_throws_what_the_store_throws) {
  EXPECT_NE(dialing().get(), nullptr);
  faults->deny("connect");
  EXPECT_EQ(too_late(dialing()).code(), errc::privilege);
  EXPECT_NE(dialing().get(), nullptr);
}

TEST_F(dialer_test, an_attempt_takes_no_longer_than_the_limit) {
  faults->hang("connect");
  auto attempt = dialing();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  time.advance(limit - 1ns);
  EXPECT_NE(attempt.wait_for(0s), std::future_status::ready);
  time.advance(1ns);
  const auto thrown = too_late(std::move(attempt));
  EXPECT_EQ(thrown.code(), errc::unreachable);
  EXPECT_THAT(thrown.what(), testing::HasSubstr("connect_timeout of 5000 ms"));
  EXPECT_TRUE(eventually([&] { return server->blocked() == 0; })) << "the attempt was broken off";
}

TEST_F(dialer_test, one_that_cannot_be_broken_off_is_left_behind_and_its_late_session_is_closed) {
  database->is_deaf = true;
  EXPECT_EQ(leave_one_behind().code(), errc::unreachable);
  EXPECT_EQ(server->blocked(), 1U);
  server->unblock();
  EXPECT_TRUE(eventually([&] { return server->blocked() == 0 && server->sessions() == 0; }));
}

TEST_F(dialer_test, leaves_three_behind_at_most_and_makes_another_attempt_when_one_has_ended) {
  database->is_deaf = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(leave_one_behind().code(), errc::unreachable);
  auto refused = dialing();
  EXPECT_TRUE(eventually([&] {
    time.advance(limit);
    return refused.wait_for(0s) == std::future_status::ready;
  }));
  EXPECT_THAT(too_late(std::move(refused)).what(), testing::HasSubstr("3 earlier attempts"));
  EXPECT_EQ(database->connects, 3);
  auto waits = dialing();
  server->unblock();
  EXPECT_NE(waits.get(), nullptr);
}

TEST_F(dialer_test, close_ends_all_attempts_and_begins_no_other) {
  faults->hang("connect");
  auto attempt = dialing();
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  dials->close();
  EXPECT_THAT(too_late(std::move(attempt)).what(), testing::HasSubstr("closed"));
  EXPECT_EQ(too_late(dialing()).code(), errc::unreachable);
  EXPECT_EQ(faults->count("connect"), 1);
}

TEST_F(dialer_test, may_go_before_an_attempt_that_it_has_left_behind) {
  database->is_deaf = true;
  leave_one_behind();
  dials.emplace(shared);
  EXPECT_EQ(server->blocked(), 1U);
  server->unblock();
  EXPECT_NE(dialing().get(), nullptr);
}

// The same hanging attempts, made by a whole client.
class deaf_connect_test : public virtual_client_test {
 protected:
  template <class Answer>
  bool is_there(std::future<Answer>& answer) {
    return soon([&] { return answer.wait_for(0s) == std::future_status::ready; });
  }
  template <class Work>
  static auto beside(Work work) {
    return in_background(std::move(work));
  }
  client make(const options& settings) {
    return make_virtual_client(deaf, settings, std::shared_ptr<virtual_time>{std::shared_ptr<void>{}, &time});
  }
  // The clock belongs to the test, so every thread that reads it must have ended.
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

}  // namespace
}  // namespace rowlock::test
