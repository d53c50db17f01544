// What the doctor finds on a real cluster.
#include "balancer.hpp"
#include "galera_test.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/client.hpp>
#include <rowlock/doctor.hpp>

namespace rowlock::test {

namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

class doctor_test : public galera_test {
 protected:
  std::vector<std::string> found(int node) const {
    std::vector<std::string> codes;
    for (const auto& one : diagnose(url(node))) {
      codes.push_back(std::string{to_string(one.level)} + ' ' + one.code);
    }
    return codes;
  }
};

TEST_F(doctor_test, asks_for_a_skew) {
  EXPECT_THAT(found(1), Contains("warning cluster-skew"));
  EXPECT_THAT(found(1), Not(Contains("note cluster-balancer")));
  admin{connect(url(1))}.set_skew(2s);
  EXPECT_THAT(found(1), Not(Contains("warning cluster-skew")));
}

TEST_F(doctor_test, sees_a_balancer) {
  const balancer before{{url(1), url(2), url(3)}};
  const auto balanced = before.instead_of_the_node_in(url(1));
  std::vector<finding> about;
  for (auto& one : diagnose(balanced)) {
    if (one.code == "cluster-balancer") about.push_back(std::move(one));
  }
  ASSERT_EQ(about.size(), 1U);
  for (int node = 1; node <= 3; ++node) {
    EXPECT_THAT(about[0].found, testing::HasSubstr(":" + balancer::port_of(url(node))));
  }
}

TEST_F(doctor_test, sees_a_clock_that_is_ahead) {
  ASSERT_TRUE(nodes().has_clock()) << "libfaketime is not installed; run scripts/setup";
  EXPECT_THAT(found(3), Not(Contains("warning clock-drift")));
  nodes().set_clock("+5");
  EXPECT_THAT(found(3), Contains("warning clock-drift"));
}

TEST_F(doctor_test, sees_a_node_that_has_left) {
  nodes().isolate(3);
  EXPECT_THAT(found(3), Contains("error cluster-part"));
  EXPECT_THAT(found(1), Not(Contains("error cluster-part")));
  nodes().rejoin(3);
}

}  // namespace

}  // namespace rowlock::test
