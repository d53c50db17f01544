// A connection that was given up is reset. If it were closed instead, it would deliver its statement when the server
// reads again, and the server would execute the statement long after.
#include "store/loopback_proxy.hpp"
#include "store/open.hpp"
#include "store/session_steps.hpp"
#include "support/background.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>

namespace rowlock::test {
namespace {

class broken_socket_test : public testing::TestWithParam<std::string> {
 protected:
  // A statement that is larger than any buffer of the proxy.
  static std::vector<store::acquire_item> large_batch() {
    std::vector<store::acquire_item> batch;
    for (int i = 0; i < 200; ++i) {
      const auto number = std::to_string(1000 + i);
      batch.push_back(
          {.name = number + std::string(500, 'x'), .lease = lease_id::random(), .hold = hold_id::random()});
    }
    return batch;
  }

  const std::unique_ptr<store_fixture> fixture_ = make_store_fixture(GetParam());
};

TEST_P(broken_socket_test, delivers_nothing_any_more) {
  loopback_proxy proxy{fixture_->url()};
  auto session = store::open(proxy.url(), fixture_->options())->connect();
  session->acquire(large_batch());  // from now on the statement is prepared, and takes one message
  proxy.stall();
  auto answer = in_background([&] {
    try {
      session->acquire(large_batch());
      return errc::internal;
    } catch (const error& thrown) {
      return thrown.kind();
    }
  });
  proxy.await_bytes();
  session->interrupt();
  EXPECT_EQ(answer.get(), errc::unreachable);
  session.reset();
  EXPECT_EQ(proxy.drain(), ECONNRESET) << "0: all of it was delivered";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(broken_socket_test);
INSTANTIATE_TEST_SUITE_P(stores, broken_socket_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace
}  // namespace rowlock::test
