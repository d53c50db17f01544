// A quorum of real databases of three kinds.
#include "client/client_test.hpp"
#include "client/raw_sql.hpp"

#include <atomic>
#include <vector>

namespace rowlock::test {
namespace {

class quorum_databases_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto others = selected_of({"sqlite", "postgres"});
    if (others.size() < 2) GTEST_SKIP() << "needs sqlite and postgres";
    for (const auto& store : {others[0], others[1], GetParam()})
      fixtures.push_back(make_store_fixture(store));
  }

  std::vector<client> new_clients() const {
    std::vector<client> clients;
    for (const auto& fixture : fixtures) {
      options settings;
      settings.connect_timeout = settings.close_timeout = 20s;  // on a busy machine
      settings.ttl = 60s;                                       // ten times what a member may take
      settings.prefix = fixture->options().prefix;
      clients.push_back(connect(fixture->url(), settings));
    }
    return clients;
  }
  static quorum_options patient() { return {.member_timeout = 6s}; }

  std::vector<std::unique_ptr<store_fixture>> fixtures;
};

TEST_P(quorum_databases_test, one_holds_and_a_majority_has_its_token) {
  const auto mine = new_clients();
  mutex busy{mine[1], "global"};
  for (int i = 0; i < 5; ++i) std::ignore = busy.acquire();
  quorum_mutex lock{mine, "global", patient()};
  auto held = lock.acquire();
  ASSERT_TRUE(held);
  quorum_mutex elsewhere{new_clients(), "global", patient()};
  EXPECT_FALSE(elsewhere.try_acquire());
  int written = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    // The hold does not include a member that was slower than the others.
    if (!held.member_hold(i)) continue;
    if (fixtures[i]->open()->connect()->show("global").value().row.token == held.token().value()) ++written;
    EXPECT_EQ(held.member_hold(i).guard_statement().parameters.at(1), held.member_hold(i).id().to_string());
  }
  EXPECT_GE(written, 2);
  EXPECT_EQ(held.release(), release_result::released);
  const auto next = elsewhere.acquire();
  EXPECT_GT(next.token(), held.token());
}

TEST_P(quorum_databases_test, tokens_rise_when_each_in_turn_is_missing) {
  fencing_token last;
  for (std::size_t missing = 0; missing < 3; ++missing) {
    const auto mine = new_clients();
    std::vector<client> some = mine;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(missing));
    mutex busy{mine[(missing + 1) % 3], "global"};
    for (int i = 0; i < 5; ++i) std::ignore = busy.acquire();
    const auto held = quorum_mutex{some, "global", {.members = 3, .member_timeout = 6s}}.acquire();
    EXPECT_GT(held.token(), last);
    last = held.token();
  }
}

TEST_P(quorum_databases_test, its_data_is_shown_by_every_database_that_granted_it) {
  const auto mine = new_clients();
  quorum_mutex lock{mine, "global", patient()};
  auto held = lock.acquire();
  ASSERT_TRUE(held);
  for (const std::string text : {"site a, Größe 7", "", "site b"}) {
    held.set_data(text);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!held.member_hold(i)) continue;
      EXPECT_EQ(admin{mine[i]}.show("global").value().holders.at(0).data, text) << i;
    }
  }
  EXPECT_TRUE(held);
  held.release();
  EXPECT_EQ(code_of([&] { held.set_data("still me"); }), errc::hold_lost);
}

// On PostgreSQL the guard does not block the data.
TEST_P(quorum_databases_test, its_data_waits_for_guarded_transactions_no_longer_than_for_an_answer) {
  const auto mine = new_clients();
  quorum_mutex lock{mine, "global", {.member_timeout = 1s}};
  auto held = lock.acquire();
  // A member that was slower than the others has not granted the lock.
  const auto has_all = [&] { return held.member_hold(0) && held.member_hold(1) && held.member_hold(2); };
  for (int tries = 0; tries < 50 && !has_all(); ++tries) {
    held.release();
    held = lock.acquire();
  }
  ASSERT_TRUE(has_all());
  std::vector<std::unique_ptr<raw_sql>> apps;
  for (const std::size_t guarded : {0U, 2U}) {
    auto& app = apps.emplace_back(open_raw_sql(*fixtures[guarded]));
    app->run("BEGIN");
    app->guard(held.member_hold(guarded));
  }
  // The code depends on how long the member's statement waits for the row.
  EXPECT_THAT(code_of([&] { held.set_data("during"); }), testing::AnyOf(errc::contention, errc::unreachable));
  EXPECT_TRUE(held);
  for (const auto& app : apps) app->run("COMMIT");
  // If the machine pauses, the members take too long, and the data must be set again.
  std::optional<error> failure;
  for (int tries = 0; tries < 5 && (tries == 0 || failure); ++tries) {
    failure.reset();
    try {
      held.set_data("after");
    } catch (const error& late) {
      failure = late;
    }
  }
  EXPECT_FALSE(failure) << failure->what();
}

TEST_P(quorum_databases_test, rivals_exclude_each_other) {
  std::atomic<int> inside{0};
  std::atomic<int> counted{0};
  {
    std::vector<std::jthread> rivals;
    for (int rival = 0; rival < 3; ++rival) {
      rivals.emplace_back([&] {
        quorum_mutex lock{new_clients(), "global", patient()};
        for (int i = 0; i < 4; ++i) {
          const auto held = lock.acquire();
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++counted;
          inside.fetch_sub(1);
        }
      });
    }
  }
  EXPECT_EQ(counted, 12);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(quorum_databases_test);

}  // namespace
}  // namespace rowlock::test
