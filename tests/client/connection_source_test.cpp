#include "client/connection/connection_source.hpp"

#include "support/background.hpp"
#include "support/fault_plan.hpp"
#include "support/virtual_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class connection_source_test : public testing::Test {
 protected:
  using spare = client_layer::connection_source::spare;

  ~connection_source_test() override {
    source.close();
    faults->detach();
  }
  // What database() throws when the user's source calls this function.
  error failure_of(std::function<void()> does) {
    ask = std::move(does);
    try {
      source.database();
    } catch (const error& thrown) {
      return thrown;
    }
    return {errc::internal, "nothing was thrown"};
  }

  const std::shared_ptr<store::memory_server> server = store::memory_server::create();
  const std::shared_ptr<fault_plan> faults = fault_plan::of(server);
  std::function<void()> ask;
  std::atomic<int> asked{0};
  virtual_time time;
  client_layer::client_environment shared{{}, time};
  client_layer::connection_source source{shared, [this]() -> std::shared_ptr<store::database> {
                                           ++asked;
                                           if (ask) ask();
                                           return server->open();
                                         }};
};

TEST_F(connection_source_test, whatever_the_users_source_throws_is_unreachable_or_its_own_error) {
  const auto failed = failure_of([] { throw std::runtime_error("no such secret"); });
  EXPECT_EQ(failed.code(), errc::unreachable);
  EXPECT_THAT(failed.what(), HasSubstr("no such secret"));
  EXPECT_EQ(failure_of([] { throw 1; }).code(), errc::unreachable);
  EXPECT_EQ(failure_of([] { throw error(errc::authentication, "wrong password"); }).code(),
            errc::authentication);
}

TEST_F(connection_source_test, asks_the_users_source_for_each_connection) {
  const auto one = source.connect({});
  const auto other = source.connect({});
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(server->sessions(), 2U);
}

TEST_F(connection_source_test, asks_the_users_source_from_one_thread_at_a_time) {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  ask = [&] {
    most = std::max(most.load(), ++inside);
    std::this_thread::yield();
    --inside;
  };
  std::vector<std::future<void>> calls;
  for (int i = 0; i < 8; ++i) {
    calls.push_back(in_background([&] {
      for (int round = 0; round < 50; ++round) source.database();
    }));
  }
  for (auto& one : calls) one.get();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(asked, 400);
}

TEST_F(connection_source_test, calls_nothing_of_the_users_once_the_client_is_closed) {
  shared.user_calls.close();
  EXPECT_EQ(failure_of({}).code(), errc::closed);
  EXPECT_EQ(asked, 0);
}

TEST_F(connection_source_test, gives_each_spare_once_and_then_new_connections) {
  auto* const keepers = &source.make_spares(server->open());
  EXPECT_EQ(server->sessions(), 2U);
  const auto keeper = source.connect(spare::keeper);
  EXPECT_EQ(keeper.get(), keepers);
  const auto worker = source.connect(spare::worker);
  EXPECT_EQ(server->sessions(), 2U);
  EXPECT_EQ(asked, 0);
  const auto again = source.connect(spare::keeper);
  EXPECT_EQ(server->sessions(), 3U);
  EXPECT_EQ(asked, 1);
}

TEST_F(connection_source_test, a_connection_for_nobody_in_particular_takes_no_spare) {
  source.make_spares(server->open());
  const auto other = source.connect({});
  EXPECT_EQ(server->sessions(), 3U);
}

TEST_F(connection_source_test, makes_both_spares_or_none) {
  faults->refuse_unreachable("connect", 1, 1);
  EXPECT_THROW(source.make_spares(server->open()), error);
  EXPECT_EQ(server->sessions(), 0U);
}

TEST_F(connection_source_test, close_drops_the_spares_and_makes_no_connection_more) {
  source.make_spares(server->open());
  source.close();
  EXPECT_EQ(server->sessions(), 0U);
  EXPECT_THROW(source.connect(spare::keeper), error);
  EXPECT_EQ(server->sessions(), 0U);
}

TEST_F(connection_source_test, close_breaks_off_an_attempt_that_is_under_way) {
  faults->hang("connect");
  auto attempt = in_background([&] {
    try {
      source.connect({});
    } catch (const error& thrown) {
      return thrown.kind();
    }
    return errc::internal;
  });
  while (server->blocked() == 0) std::this_thread::yield();
  source.close();
  EXPECT_EQ(attempt.get(), errc::unreachable);
}

}  // namespace
}  // namespace rowlock::test
