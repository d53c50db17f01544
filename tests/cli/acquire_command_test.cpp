// rowlock acquire, renew and release --receipt: a lock that outlives the command that takes it.
#include "cli/cli_test.hpp"

#include "support/temporary_folder.hpp"

#include <fstream>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class acquire_command_test : public cli_test {
 protected:
  // Acquires the lock, and returns the receipt, which is one line.
  std::string acquire(const std::string& name, const words& options) {
    words line{"acquire", name};
    line.insert(line.end(), options.begin(), options.end());
    const auto result = rowlock(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("rowlock-hold/"));
    return result.out.substr(0, result.out.size() - 1);
  }
  std::chrono::milliseconds expires_in(const std::string& name) {
    const auto seen = store->open()->connect()->show(name);
    EXPECT_TRUE(seen && seen->holders.size() == 1);
    return seen->holders.at(0).expires_in;
  }
  // Runs the command with this text on its standard input.
  command_result with_input(const std::string& text, const words& line) {
    const temporary_folder folder;
    const auto file = (folder.path() / "receipt").string();
    std::ofstream{file} << text;
    words all{"sh", "-c", "file=$1; shift; exec \"$@\" <\"$file\"", "sh", file, ROWLOCK_COMMAND_PATH};
    all.insert(all.end(), line.begin(), line.end());
    return command_process{all, environment()}.wait();
  }
};

TEST_P(acquire_command_test, holds_the_lock_until_it_is_released) {
  const auto receipt = acquire("job one ", {"--ttl", "10m"});
  const auto busy = rowlock({"acquire", "job one ", "--ttl", "10m", "-n"});
  EXPECT_EQ(busy.exit_code, 75);
  EXPECT_THAT(busy.err, HasSubstr("'job one ' is busy"));
  EXPECT_EQ(busy.out, "");
  EXPECT_EQ(rowlock({"acquire", "job one ", "--ttl", "10m", "--wait", "50ms", "-E", "9"}).exit_code, 9);
  const auto held = json_of({"show", "job one "}).at(0).at("holders").at(0);
  EXPECT_EQ(held.at("application"), "rowlock acquire");
  EXPECT_GT(held.at("expires_in_ms"), 500'000);

  const auto released = rowlock({"release", "--receipt", receipt});
  EXPECT_EQ(released.exit_code, 0) << released.err;
  EXPECT_THAT(json_of({"show", "job one "}).at(0).at("holders"), IsEmpty());
  const auto again = rowlock({"release", "--receipt", receipt});
  EXPECT_EQ(again.exit_code, 76);
  EXPECT_THAT(again.err, HasSubstr("the hold of this receipt is over"));
}

TEST_P(acquire_command_test, hands_over_to_a_waiter) {
  const auto receipt = acquire("job", {"--ttl", "10m"});
  auto waiter = wait_for("job");
  EXPECT_EQ(rowlock({"release", "--receipt", receipt}).exit_code, 0);
  EXPECT_EQ(waiter->wait().out, "mine\n");
}

TEST_P(acquire_command_test, renewal_starts_the_ttl_again_and_keeps_the_receipt) {
  const auto receipt = acquire("job", {"--ttl", "1m"});
  const auto token = json_of({"show", "job"}).at(0).at("token");
  // A part of the ttl has passed.
  store->expire(store->open()->connect()->show("job")->holders.at(0).lease.id, -std::chrono::seconds{20});
  const auto renewed = rowlock({"renew", receipt});
  EXPECT_EQ(renewed.exit_code, 0) << renewed.err;
  EXPECT_EQ(renewed.out, receipt + "\n");
  EXPECT_GT(expires_in("job"), std::chrono::seconds{30});
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("holders").at(0).at("token"), token);
  EXPECT_EQ(rowlock({"release", "--receipt", receipt}).exit_code, 0);
}

TEST_P(acquire_command_test, another_ttl_makes_another_receipt) {
  const auto old = acquire("job", {"--ttl", "10s"});
  const auto renewed = json_of({"renew", old, "--ttl", "1h"}).at(0).at("receipt").get<std::string>();
  EXPECT_NE(renewed, old);
  EXPECT_GT(expires_in("job"), std::chrono::minutes{59});
  EXPECT_EQ(rowlock({"renew", old}).exit_code, 76);
  EXPECT_EQ(rowlock({"release", "--receipt", old}).exit_code, 76);
  EXPECT_EQ(rowlock({"release", "--receipt", renewed}).exit_code, 0);
}

TEST_P(acquire_command_test, what_has_expired_stays_so) {
  const auto receipt = acquire("job", {"--ttl", "100ms"});
  eventually("it has expired", [&] { return expires_in("job") < std::chrono::milliseconds{0}; });
  for (const words& line :
       {words{"renew", receipt}, {"renew", receipt, "--ttl", "1m"}, {"release", "--receipt", receipt}}) {
    const auto result = rowlock(line);
    EXPECT_EQ(result.exit_code, 76) << testing::PrintToString(line);
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(rowlock({"run", "job", "-n", "--", "true"}).exit_code, 0);
}

TEST_P(acquire_command_test, what_was_taken_by_force_cannot_be_renewed) {
  const auto receipt = acquire("job", {"--ttl", "10m"});
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(rowlock({"renew", receipt}).exit_code, 76);
  auto next = hold("job");
  EXPECT_EQ(rowlock({"renew", receipt}).exit_code, 76);
  EXPECT_EQ(rowlock({"release", "--receipt", receipt}).exit_code, 76);
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 1);
}

TEST_P(acquire_command_test, a_receipt_is_read_from_standard_input) {
  const auto receipt = acquire("job", {"--ttl", "10m"});
  EXPECT_EQ(with_input(receipt + "\n", {"renew", "-"}).exit_code, 0);
  EXPECT_EQ(with_input(receipt, {"release", "--receipt", "-"}).exit_code, 0);
  EXPECT_EQ(with_input("", {"renew", "-"}).exit_code, 64);
}

TEST_P(acquire_command_test, readers_and_permits) {
  const auto reader = acquire("catalog", {"--ttl", "10m", "--shared"});
  const auto other = acquire("catalog", {"--ttl", "10m", "--shared", "-n"});
  EXPECT_EQ(rowlock({"acquire", "catalog", "--ttl", "10m", "-x", "-n"}).exit_code, 75);
  EXPECT_EQ(rowlock({"renew", reader}).exit_code, 0);
  EXPECT_EQ(rowlock({"release", "--receipt", reader}).exit_code, 0);
  EXPECT_EQ(rowlock({"release", "--receipt", other}).exit_code, 0);
  const auto two = acquire("gpu", {"--ttl", "10m", "--permits", "2", "--capacity", "3"});
  EXPECT_EQ(rowlock({"run", "gpu", "-n", "--permits", "2", "--capacity", "3", "--", "true"}).exit_code, 75);
  EXPECT_EQ(rowlock({"renew", two}).exit_code, 0);
  EXPECT_EQ(rowlock({"release", "--receipt", two}).exit_code, 0);
}

TEST_P(acquire_command_test, a_receipt_that_cannot_be_written_releases_the_lock) {
  words all{"sh", "-c", "exec \"$0\" acquire job --ttl 10m > /dev/full", ROWLOCK_COMMAND_PATH};
  const auto result = command_process{all, environment()}.wait();
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_THAT(result.err, HasSubstr("receipt"));
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 0);
}

TEST_P(acquire_command_test, a_receipt_that_cannot_be_written_unbuffered_releases_the_lock) {
  words all{"sh", "-c", "exec stdbuf -o0 \"$0\" acquire job --ttl 10m > /dev/full", ROWLOCK_COMMAND_PATH};
  EXPECT_EQ(command_process(all, environment()).wait().exit_code, 70);
  all[2] += " --json";
  EXPECT_EQ(command_process(all, environment()).wait().exit_code, 70);
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 0);
}

TEST_P(acquire_command_test, a_new_receipt_that_cannot_be_written_releases_the_lock) {
  const auto receipt = acquire("job", {"--ttl", "10m"});
  const auto result = start_redirected(">/dev/full", {"renew", receipt, "--ttl", "20m"})->wait();
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_THAT(result.err, HasSubstr("the receipt cannot be written; 'job' is released"));
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 0);
}

TEST_P(acquire_command_test, json_has_the_token) {
  const auto taken = json_of({"acquire", "job", "--ttl", "10m"}).at(0);
  EXPECT_EQ(taken.at("name"), "job");
  EXPECT_EQ(taken.at("token"), json_of({"show", "job"}).at(0).at("token"));
  EXPECT_EQ(taken.at("ttl_ms"), 600'000);
  EXPECT_EQ(rowlock({"release", "--receipt", taken.at("receipt").get<std::string>()}).exit_code, 0);
}

TEST_P(acquire_command_test, refuses_what_cannot_be_right) {
  for (const words& refused : {words{"acquire", "job"},
                               {"acquire", "job", "--ttl", "0"},
                               {"acquire", "job", "--ttl", "50ms"},
                               {"acquire", "job", "--ttl", "25h"},
                               {"acquire", "job", "--ttl", "1m", "--capacity", "2", "--delay", "1s"},
                               {"renew"},
                               {"renew", "no-receipt"},
                               {"release", "--receipt", "no-receipt"},
                               {"release", "job", "--receipt", "no-receipt"},
                               {"release", "--receipt", "no-receipt", "--force"},
                               {"release", "--force"},
                               {"release"}}) {
    const auto result = rowlock(refused);
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(refused);
    EXPECT_THAT(result.err, StartsWith("rowlock: "));
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(acquire_command_test);

}  // namespace rowlock::test
