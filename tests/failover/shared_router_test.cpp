// A MySQL Router with connection_sharing=1 (scripts/with-mysql-router --sharing).
#include "failover_test.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace rowlock::test {
namespace {

using testing::HasSubstr;

class shared_router_test : public failover_test {
 protected:
  static std::string of_script(const char* name) {
    return exported(name, "scripts/with-mysql-router --sharing");
  }
};

TEST_F(shared_router_test, is_refused_at_connect_and_by_the_doctor) {
  ASSERT_EQ(of_script("ROWLOCK_TEST_MYSQL_SHARED"), "1");
  use(of_script("ROWLOCK_TEST_MYSQL_DIRECT_URL"));
  const auto behind = of_script("ROWLOCK_TEST_MYSQL_URL");
  try {
    std::ignore = connect(behind);
    ADD_FAILURE() << "connected, and a statement would be refused later";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::database);
    EXPECT_THAT(refused.what(), HasSubstr("connection_sharing=1"));
  }
  const auto findings = diagnose(behind);
  EXPECT_EQ(std::ranges::count(findings, "router-shares", &finding::code), 1);
}

}  // namespace
}  // namespace rowlock::test
