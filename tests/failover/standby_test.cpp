// A primary and its standby, in one URL (scripts/with-standby).
#include "failover_test.hpp"

#include <rowlock/rowlock.hpp>

#include <sstream>

namespace rowlock::test {
namespace {

constexpr const char* standby_script = "scripts/with-standby";

class standby_test : public failover_test {
 protected:
  void make(const std::string& mode) {
    change("make " + mode);
    use(exported("ROWLOCK_TEST_STANDBY_URL", standby_script));
  }
  static void change(const std::string& action) {
    control(exported("ROWLOCK_TEST_STANDBY_CONTROL", standby_script) + ' ' + action);
  }
  // places: "primary", "standby", or both in this order; as of make().
  static std::string url_of(std::initializer_list<std::string> places) {
    std::istringstream ports{exported("ROWLOCK_TEST_STANDBY_PORTS", standby_script)};
    std::string primary, standby, hosts;
    ports >> primary >> standby;
    for (const auto& place : places) {
      hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + (place == "primary" ? primary : standby);
    }
    return "postgresql://postgres@" + hosts + "/postgres";
  }
  void fail_over() {
    change("kill");
    change("promote");
  }
  void until_epoch_is_above(std::int64_t before) const {
    until("the epoch has risen", [&] { return epoch() > before; });
  }
};

TEST_F(standby_test, is_passed_over_wherever_the_url_names_it) {
  make("sync");
  // Without target_session_attrs, which rowlock adds.
  for (const auto& both : {url_of({"standby", "primary"}), url_of({"primary", "standby"})}) {
    const client db = connect(both);
    const auto hold = mutex{db, "nightly"}.acquire();
    EXPECT_TRUE(hold.valid());
  }
  try {
    std::ignore = mutex{connect(url_of({"standby"})), "nightly"}.try_acquire();
    ADD_FAILURE() << "a standby cannot grant";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
  }
}

TEST_F(standby_test, that_is_synchronous_takes_over_and_nothing_is_lost) {
  make("sync");
  const auto before = epoch();
  auto all = gather();
  fail_over();
  until_epoch_is_above(before);
  expect_to_have_gone_on(all);
}

TEST_F(standby_test, that_is_asynchronous_takes_over_and_holders_learn_what_is_lost) {
  make("async");
  const auto before = epoch();
  auto lucky = start("lucky");
  auto unlucky = start("unlucky");
  lucky.acquire("kept");
  const auto standby = sql_session::open(url_of({"standby"}));
  until("the standby has it",
        [&] { return standby->number("SELECT count(*) FROM rowlock_lock WHERE in_use = 1") == 1; });
  change("stall");
  std::int64_t latest = 0;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      EXPECT_EQ(unlucky.ask("release"), "released");
    }
    latest = unlucky.acquire("gone").token;
  }
  fail_over();
  until_epoch_is_above(before);
  until("the holder has learned of its loss", [&] { return unlucky.ask("state") == "invalid gone"; });
  EXPECT_EQ(lucky.ask("state"), "valid none");
  EXPECT_EQ(lucky.ask("release"), "released");
  const auto next = lucky.acquire("gone").token;
  EXPECT_GT(next, latest);
  EXPECT_EQ(lucky.ask("release"), "released");

  // As docs/operations.md says of a database that was restored.
  const auto outside = next + 1'000'000'000'000;
  admin{connect(url())}.raise_epoch(outside);
  EXPECT_GT(lucky.acquire("gone").token, outside);
  EXPECT_GT(unlucky.acquire("kept").token, outside);
}

}  // namespace
}  // namespace rowlock::test
