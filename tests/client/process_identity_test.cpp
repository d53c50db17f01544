#include "client/base/process_identity.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

TEST(process_identity_test, names_this_process_and_the_application) {
  const auto made = client_layer::process_identity::of_this_process("billing");
  EXPECT_EQ(made.pid, ::getpid());
  EXPECT_EQ(made.application, "billing");
  EXPECT_FALSE(made.host.empty());
}

TEST(process_identity_test, an_application_without_a_name_has_its_programs) {
  const auto made = client_layer::process_identity::of_this_process("");
  // The kernel keeps 15 characters of the name.
  EXPECT_EQ(made.application, std::string{program_invocation_short_name}.substr(0, 15));
}

TEST(process_identity_test, names_the_user_and_the_program_without_its_arguments) {
  const auto made = client_layer::process_identity::of_this_process("billing");
  EXPECT_FALSE(made.user.empty());
  EXPECT_EQ(made.program, program_invocation_short_name);
  EXPECT_EQ(client_layer::process_identity::of_this_process("", "nightly\n\xC3").program, "nightly");
  EXPECT_EQ(client_layer::process_identity::of_this_process("", std::string(300, 'x')).program.size(), 255U);
}

TEST(process_identity_test, a_pid_that_is_given_again_is_another_process) {
  const auto mine = client_layer::birth_of(::getpid());
  EXPECT_NE(mine, "");
  EXPECT_EQ(client_layer::birth_of(::getpid()), mine);
  EXPECT_NE(client_layer::birth_of(1), mine);
  EXPECT_EQ(client_layer::birth_of(std::numeric_limits<int>::max()), "") << "there is none";
}

TEST(process_identity_test, finds_a_user_by_its_number) {
  const auto* const passwd =
      "root:x:0:0:root:/root:/bin/sh\n\nbroken\nother:x:12\ndeploy:x:1:1::/:\nlast:x:2";
  EXPECT_EQ(client_layer::user_in(passwd, 0), "root");
  EXPECT_EQ(client_layer::user_in(passwd, 1), "deploy");
  EXPECT_EQ(client_layer::user_in(passwd, 2), "last");
  EXPECT_EQ(client_layer::user_in(passwd, 12), "other");
  EXPECT_EQ(client_layer::user_in(passwd, 3), "");
  EXPECT_EQ(client_layer::user_in("", 0), "");
}

TEST(process_identity_test, stands_on_each_of_its_leases) {
  const auto made = client_layer::process_identity::of_this_process("billing");
  const auto id = model::lease_id::random();
  const auto client = model::lease_id::random();
  const auto lease = made.lease(id, client, 5s);
  EXPECT_EQ(lease.id, id);
  EXPECT_EQ(lease.client, client);
  EXPECT_EQ(lease.ttl, 5s);
  EXPECT_EQ(lease.host, made.host);
  EXPECT_EQ(lease.pid, made.pid);
  EXPECT_EQ(lease.application, "billing");
  EXPECT_EQ(lease.user, made.user);
  EXPECT_EQ(lease.program, made.program);
}

}  // namespace
}  // namespace rowlock::test
