// HAProxy before a Galera cluster (scripts/with-haproxy): connections are spread over the nodes, or go to one of
// them while it lives.
#include "failover_test.hpp"

#include "model/ids.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/migrate.hpp>

namespace rowlock::test {
namespace {

constexpr const char* haproxy_script = "scripts/with-haproxy";

class haproxy_test : public failover_test {
 protected:
  void SetUp() override {
    nodes_.repair();
    database_ = "t" + model::id128::random().to_string().substr(0, 12);
    nodes_.connect(1).run("CREATE DATABASE " + database_);
    migrator{nodes_.url(1, database_)}.up();
  }
  void TearDown() override {
    nodes_.repair();
    nodes_.connect(1).run("DROP DATABASE IF EXISTS " + database_);
  }
  cluster& nodes() { return nodes_; }
  std::string spread() const {
    return with_database(exported("ROWLOCK_TEST_HAPROXY_SPREAD_URL", haproxy_script), database_);
  }
  std::string active() const {
    return with_database(exported("ROWLOCK_TEST_HAPROXY_ACTIVE_URL", haproxy_script), database_);
  }
  static std::vector<std::string> balancers_found(const std::string& url) {
    std::vector<std::string> said;
    for (const auto& one : diagnose(url)) {
      if (one.code == "cluster-balancer") said.push_back(one.found);
    }
    return said;
  }

 private:
  cluster nodes_;
  std::string database_;
};

TEST_F(haproxy_test, that_spreads_is_noticed_by_the_doctor) {
  const auto found = balancers_found(spread());
  ASSERT_EQ(found.size(), 1U);
  for (int node = 1; node <= 3; ++node) {
    const auto url = nodes().url(node);
    const auto port = url.substr(url.rfind(':'), url.rfind('/') - url.rfind(':'));
    EXPECT_THAT(found[0], testing::HasSubstr(port));
  }
  EXPECT_THAT(balancers_found(active()), testing::IsEmpty()) << "it leads to one node";
}

TEST_F(haproxy_test, that_spreads_leaves_a_killed_node_and_nothing_is_lost) {
  use(spread());
  auto all = gather();
  nodes().kill(3);
  expect_to_have_gone_on(all);
  nodes().start(3);
}

TEST_F(haproxy_test, that_has_one_active_node_leaves_it_when_it_is_killed) {
  use(active());
  auto all = gather();
  nodes().kill(1);
  expect_to_have_gone_on(all);
  nodes().start(1);
}

}  // namespace
}  // namespace rowlock::test
