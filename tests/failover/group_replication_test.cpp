// A replication group of MySQL with a single primary (scripts/with-group-replication).
#include "group_test.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/rowlock.hpp>

#include <algorithm>

namespace rowlock::test {
namespace {

class group_replication_test : public group_test {};

TEST_F(group_replication_test, loses_nothing_when_its_primary_is_killed) {
  const auto before = epoch();
  auto all = gather();
  kill(primary());
  until(
      "another primary has raised the epoch",
      [&] {
        try {
          return epoch() > before;
        } catch (const std::exception&) {
          return false;
        }
      },
      60s);
  expect_to_have_gone_on(all);
}

TEST_F(group_replication_test, has_secondaries_that_are_passed_over) {
  const client db = connect(at({3, 2, 1}));
  const auto held = mutex{db, "nightly"}.acquire();
  EXPECT_EQ(held.token().value(), number_at(1, "SELECT token FROM rowlock_lock"));
  try {
    std::ignore = mutex{connect(at({3})), "nightly"}.try_acquire();
    ADD_FAILURE() << "a secondary cannot grant";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::read_only) << refused.what();
  }
}

TEST_F(group_replication_test, has_no_use_for_a_member_that_has_left_it) {
  ask(1, "STOP GROUP_REPLICATION");
  ask(1, "SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF");
  try {
    std::ignore = mutex{connect(at({1})), "nightly"}.try_acquire();
    ADD_FAILURE() << "it would grant what the group knows nothing of";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::unreachable) << refused.what();
  }
  const auto findings = diagnose(at({1}));
  EXPECT_EQ(std::ranges::count(findings, "group-part", &finding::code), 1);
  until("another member is the primary", [&] {
    try {
      return mutex(connect(at({1, 2, 3})), "nightly").acquire().valid();
    } catch (const error&) {
      return false;
    }
  });
}

}  // namespace
}  // namespace rowlock::test
