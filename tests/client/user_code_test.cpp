// The user's functions: the log and the source of the URL.
#include "client/base/user_code.hpp"

#include "client/call/closing_handle.hpp"
#include "client/client_test.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"
#include "support/threads.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace rowlock::test {
namespace {

using client_layer::user_code;

TEST(user_code_test, is_called_while_the_door_is_open) {
  user_code user_calls;
  int calls = 0;
  EXPECT_TRUE(user_calls.run([&] { ++calls; }));
  EXPECT_THROW(user_calls.run([]() { throw std::runtime_error("its own"); }), std::runtime_error);
  user_calls.close();
  EXPECT_FALSE(user_calls.run([&] { ++calls; }));
  EXPECT_EQ(calls, 1);
}

TEST(user_code_test, may_close_the_door_behind_itself) {
  user_code user_calls;
  EXPECT_TRUE(user_calls.run([&] { user_calls.run([&] { user_calls.close(); }); }));
  EXPECT_FALSE(user_calls.run([] {}));
}

// A static object may close its client after the thread's own objects are gone.
TEST(user_code_test, may_be_called_while_a_thread_ends) {
  struct late_caller {
    user_code* user_calls = nullptr;
    ~late_caller() {
      if (user_calls) user_calls->run([] {});
    }
  };
  user_code user_calls;
  std::thread{[&] {
    // This object is made before the thread's first call, and so it is destroyed after the objects that the call made.
    thread_local late_caller last;
    last.user_calls = &user_calls;
    user_calls.run([] {});
  }}.join();
  EXPECT_TRUE(user_calls.run([] {}));
}

class user_code_client_test : public virtual_client_test {};

TEST_F(user_code_client_test, is_not_called_after_the_client_was_closed) {
  std::atomic<int> lines{0};
  auto settings = calm();
  settings.close_timeout = 1s;
  settings.log = [&](log_level, std::string_view) { ++lines; };
  client db = new_client(settings);
  const hold held = mutex(db, "a").acquire();
  faults.hang("end");
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] {
    time.advance(10ms);
    return closed.wait_for(1ms) == std::future_status::ready;
  }));
  const auto told = lines.load();
  EXPECT_GT(told, 0) << "its threads log that they go on";
  // The calls that hung fail now, and those failures would be logged.
  faults.cut(true);
  server->unblock();
  EXPECT_TRUE(eventually([&] { return server->sessions() == 0; }));
  EXPECT_EQ(lines.load(), told);
}

// A thread that close() left behind connects once more, to end the lease.
TEST_F(user_code_client_test, a_url_source_is_not_asked_after_the_client_was_closed) {
  const auto asked = std::make_shared<std::atomic<int>>(0);
  const auto clock = std::make_shared<virtual_time>();
  const std::shared_ptr<store::database> database = server->open();
  auto settings = calm();
  settings.close_timeout = 1s;
  client db = primitives::access::make<client>(client_layer::closing_handle(client_layer::engine::open(
      [=] {
        ++*asked;
        return database;
      },
      settings, *clock)));
  const hold held = mutex(db, "a").acquire();
  faults.hang("renew");
  clock->advance(10s);
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto closed = in_background([&] { db.close(); });
  ASSERT_TRUE(eventually([&] {
    clock->advance(10ms);
    return closed.wait_for(1ms) == std::future_status::ready;
  }));
  const auto before = asked->load();
  server->crash();
  EXPECT_TRUE(eventually([&] { return server->sessions() == 0; }));
  EXPECT_EQ(asked->load(), before);
  // The thread that close() left behind still uses the clock.
  EXPECT_TRUE(eventually([&] {
    clock->advance(10ms);
    return std::ranges::none_of(other_threads(),
                                [](const auto& one) { return one.name.starts_with("rowlock-"); });
  }));
}

TEST_F(user_code_client_test, that_is_under_way_is_waited_for_by_close) {
  std::promise<void> called;
  std::promise<void> go_on;
  std::atomic<bool> left{false};
  auto settings = calm();
  settings.log = [&, first = true](log_level, std::string_view) mutable {
    if (!std::exchange(first, false)) return;
    called.set_value();
    go_on.get_future().wait();
    left = true;
  };
  client db = new_client(settings);
  mutex(db, "a").acquire().release();
  client other = new_client();
  const hold held = mutex(other, "a").acquire();  // keeps the next request waiting until its client closes
  faults.lose_request("acquire");
  attempt asked{db, "a"};
  ASSERT_EQ(called.get_future().wait_for(30s), std::future_status::ready);
  close_beside_user_code(db, go_on);
  EXPECT_TRUE(left);
  EXPECT_EQ(code_of([&] { std::ignore = asked.take(); }), errc::closed);
}

TEST_F(user_code_client_test, whatever_a_url_source_throws_is_unreachable) {
  EXPECT_EQ(code_of([&] {
              std::ignore = connect([]() -> std::string { throw std::runtime_error("no secret today"); });
            }),
            errc::unreachable);
  EXPECT_EQ(code_of([&] { std::ignore = connect([]() -> std::string { throw 42; }); }), errc::unreachable);
  EXPECT_EQ(code_of([&] { std::ignore = connect([] { return std::string{"ftp://a/b"}; }); }),
            errc::invalid_argument);
}

TEST_F(user_code_client_test, a_url_source_that_throws_no_exception_ends_nothing) {
  const auto fails = std::make_shared<std::atomic<bool>>(false);
  const auto failures = std::make_shared<std::atomic<int>>(0);
  const auto clock = std::make_shared<virtual_time>();
  const std::shared_ptr<store::database> database = server->open();
  auto settings = calm();
  settings.connections = 2;
  client db = primitives::access::make<client>(client_layer::closing_handle(client_layer::engine::open(
      [=]() -> std::shared_ptr<store::database> {
        if (*fails) {
          ++*failures;
          throw 42;
        }
        return database;
      },
      settings, *clock)));
  mutex(db, "a").acquire().release();
  *fails = true;
  faults.lose_request("acquire");
  attempt asked{db, "a"};
  ASSERT_TRUE(eventually([&] {
    clock->advance(5ms);
    return *failures >= 2;
  }));
  EXPECT_FALSE(asked.is_over());
  *fails = false;
  ASSERT_TRUE(eventually([&] {
    clock->advance(5ms);
    return asked.is_over();
  }));
  EXPECT_TRUE(asked.take());
  std::jthread runs{[clock](const std::stop_token& stop) {
    while (!stop.stop_requested()) clock->advance(1ms);
  }};
  db.close();
}

}  // namespace
}  // namespace rowlock::test
