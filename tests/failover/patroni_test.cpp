// Three members that Patroni leads (scripts/with-patroni).
#include "failover_test.hpp"

#include "model/ids.hpp"

namespace rowlock::test {
namespace {

constexpr const char* patroni_script = "scripts/with-patroni";

class patroni_test : public failover_test {
 protected:
  void SetUp() override {
    // Patroni waits for its own ttl before it replaces a leader that was killed.
    ttl_ = 60s;
    auto url = exported("ROWLOCK_TEST_PATRONI_URL", patroni_script);
    // A former leader may be on its way back.
    change("complete");
    const auto name = "t" + model::id128::random().to_string().substr(0, 12);
    sql_session::open(url)->run("CREATE DATABASE " + name);
    const auto slash = url.rfind('/') + 1;
    url.replace(slash, url.find('?') - slash, name);
    // libpq tries no other member after one that does not have the database yet.
    until("the new database is reached", [&] {
      try {
        return sql_session::open(url)->number("SELECT 1") == 1;
      } catch (const std::exception&) {
        return false;
      }
    });
    use(url);
  }
  static void change(const std::string& action) {
    control(exported("ROWLOCK_TEST_PATRONI_CONTROL", patroni_script) + ' ' + action);
  }
};

TEST_F(patroni_test, that_switches_over_loses_nothing) {
  auto all = gather();
  const auto before = epoch();
  change("switchover");
  expect_to_have_gone_on(all);
  EXPECT_GT(epoch(), before);
}

TEST_F(patroni_test, that_replaces_a_killed_leader_loses_nothing) {
  auto all = gather();
  const auto before = epoch();
  change("kill-leader");
  expect_to_have_gone_on(all);
  EXPECT_GT(epoch(), before);
  change("complete");
}

}  // namespace
}  // namespace rowlock::test
