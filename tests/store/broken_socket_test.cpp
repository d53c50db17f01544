// A connection that was given up is reset. If it were closed instead, it would deliver its statement when the server
// reads again, and the server would execute the statement long after.
#include "store/open.hpp"
#include "store/session_steps.hpp"
#include "store/stalling_proxy.hpp"
#include "support/background.hpp"
#include "support/store_fixture.hpp"
#include "support/stores.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <regex>

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
  const auto url = fixture_->url();
  std::smatch place;
  ASSERT_TRUE(std::regex_search(url, place, std::regex{"@127\\.0\\.0\\.1:([0-9]+)"})) << url;
  stalling_proxy proxy{static_cast<std::uint16_t>(std::stoi(place[1]))};
  const auto by_proxy =
      place.prefix().str() + "@127.0.0.1:" + std::to_string(proxy.port()) + place.suffix().str();
  auto session = store::open(by_proxy, fixture_->options())->connect();
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
