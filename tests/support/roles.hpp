// Roles with exactly the rights that `rowlock migrate grants` gives. With ROWLOCK_TEST_AS_ROLES=1 the fixtures of
// PostgreSQL, MariaDB and MySQL migrate as the migrate role, and their clients are the run role.
#pragma once

#include <rowlock/grants.hpp>

#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

bool asked_for_roles();  // ROWLOCK_TEST_AS_ROLES

// All uses except role_use::write.
const std::vector<role_use>& uses_of_roles();

// The name of a role of the fixture with this prefix, such as t1234_run.
std::string role_name(const std::string& prefix, role_use use);

// The URL of a fixture's run role, with another role in its place. Unchanged without ROWLOCK_TEST_AS_ROLES, or if the
// URL's user is not such a role.
std::string as_role(std::string url, role_use use);

}  // namespace rowlock::test
