#include "pair_test.hpp"

#include <rowlock/rowlock.hpp>

#include <sstream>

namespace rowlock::test {

void pair_test::make(const std::string& mode) {
  change("make " + mode);
  use(of_script("URL"));
}

void pair_test::fail_over() const {
  change("kill");
  change("promote");
}

std::string pair_test::url_of(std::initializer_list<std::string> places) const {
  std::istringstream ports{of_script("PORTS")};
  std::string primary, follower, hosts;
  ports >> primary >> follower;
  for (const auto& place : places) {
    hosts += (hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:") + (place == "primary" ? primary : follower);
  }
  // The script's URL is SCHEME://USER@HOSTS/DATABASE. Its parameters are dropped: rowlock adds target_session_attrs to
  // PostgreSQL's.
  const auto whole = of_script("URL");
  const auto begin = whole.find('@') + 1;
  const auto end = whole.rfind('/');
  return whole.substr(0, begin) + hosts + whole.substr(end, whole.find('?') - end);
}

void pair_test::until_epoch_is_above(std::int64_t before) const {
  until("the epoch has risen", [&] {
    try {
      return epoch() > before;
    } catch (const std::exception&) {
      return false;  // neither server takes writes yet
    }
  });
}

void pair_test::expect_to_pass_over_the_follower() const {
  for (const auto& both : {url_of({"follower", "primary"}), url_of({"primary", "follower"})}) {
    const client db = connect(both);
    const auto hold = mutex{db, "nightly"}.acquire();
    EXPECT_TRUE(hold.valid());
  }
  try {
    std::ignore = mutex{connect(url_of({"follower"})), "nightly"}.try_acquire();
    ADD_FAILURE() << "a follower cannot grant";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
  }
}

void pair_test::expect_to_lose_nothing() {
  const auto before = epoch();
  auto all = gather();
  fail_over();
  until_epoch_is_above(before);
  expect_to_have_gone_on(all);
}

void pair_test::expect_holders_to_learn_what_is_lost() {
  const auto before = epoch();
  auto lucky = start("lucky");
  auto unlucky = start("unlucky");
  lucky.acquire("kept");
  const auto follower = sql_session::open(url_of({"follower"}));
  until("the follower has it",
        [&] { return follower->number("SELECT count(*) FROM rowlock_lock WHERE in_use = 1") == 1; });
  change("stall");
  std::int64_t latest = 0;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      EXPECT_EQ(unlucky.ask("release"), "released");
    }
    latest = unlucky.acquire("gone").token;
  }
  const client stale = connect(url());
  const auto unguarded = mutex{stale, "stale"}.acquire();
  fail_over();
  {
    // The guard refuses the lost hold, whether its holder has learned of the loss or not.
    const auto session = sql_session::open(url_of({"follower"}));
    session->begin();
    try {
      session->guard(unguarded);
      ADD_FAILURE() << "a stale write is not refused";
    } catch (const error& refused) {
      EXPECT_EQ(refused.code(), errc::hold_lost) << refused.what();
    }
  }
  until_epoch_is_above(before);
  until("the holder has learned of its loss", [&] { return unlucky.ask("state") == "invalid gone"; });
  until("the other one has, too", [&] { return !unguarded.valid(); });
  EXPECT_EQ(lucky.ask("state"), "valid none");
  EXPECT_EQ(lucky.ask("release"), "released");
  const auto next = lucky.acquire("gone").token;
  EXPECT_GT(next, latest);
  EXPECT_EQ(lucky.ask("release"), "released");

  // The epoch is raised as docs/operations.md says for a database that was restored.
  const auto outside = next + 1'000'000'000'000;
  admin{connect(url())}.raise_epoch(fencing_token{outside});
  EXPECT_GT(lucky.acquire("gone").token, outside);
  EXPECT_GT(unlucky.acquire("kept").token, outside);
}

}  // namespace rowlock::test
