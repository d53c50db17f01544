// A short run of rowlock_faults, and tests that it notices what workers do wrong.
#include "child_process.hpp"
#include "support/long_run.hpp"
#include "support/stores.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

namespace rowlock::test {

namespace {

class run_of_faults {
 public:
  // beside: a script that runs the command, if the command needs one.
  explicit run_of_faults(std::vector<std::string> arguments, const std::vector<std::string>& beside = {}) {
    const int output = ::open(file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    child_setup setup;
    setup.out = setup.err = output;
    arguments.insert(arguments.begin(), ROWLOCK_FAULTS_PATH);
    arguments.insert(arguments.begin(), beside.begin(), beside.end());
    process_ = std::make_unique<child_process>(arguments, setup);
    ::close(output);
  }

  // Returns the exit code; -1 if a signal ended the command.
  int wait() {
    const int status = process_->wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t pid() const { return process_->pid(); }
  void signal(int number) { process_->signal(number); }
  std::string said() const {
    std::ostringstream text;
    text << std::ifstream{file()}.rdbuf();
    return text.str();
  }

 private:
  std::string file() const { return folder_.path() / "output"; }

  temporary_folder folder_;
  std::unique_ptr<child_process> process_;
};

std::vector<std::string> databases() {
  return selected_of({"sqlite", "postgres", "mariadb", "mysql"});
}

TEST(faults_test, each_plain_fault_once_breaks_no_promise) {
  std::vector<std::unique_ptr<run_of_faults>> runs;
  for (const auto& database : databases()) {
    runs.push_back(std::make_unique<run_of_faults>(
        std::vector<std::string>{"--seed", "1", "--seconds", "0", "--plain", "--database", database}));
  }
  for (const auto& one : runs) {
    EXPECT_EQ(one->wait(), 0);
    std::cout << one->said() << '\n';
  }
}

// A long run includes the faults of a cluster, which take a minute or two.
TEST(faults_test, faults_that_need_more_than_a_server_once_break_no_promise) {
  if (selected_of({"postgres"}).empty()) GTEST_SKIP() << "postgres is not selected";
  std::vector<std::string> words{"--seconds", "0", "--fault", "pooler-restarted", "--fault", "disk-full"};
  for (const auto& database : databases()) words.insert(words.end(), {"--database", database});
  run_of_faults servers{words};
  std::unique_ptr<run_of_faults> cluster;
  if (is_long_run() && !selected_of({"mariadb"}).empty()) {
    cluster =
        std::make_unique<run_of_faults>(std::vector<std::string>{"--seconds", "0", "--database", "galera"},
                                        std::vector<std::string>{ROWLOCK_WITH_GALERA_PATH});
  }
  EXPECT_EQ(servers.wait(), 0);
  std::cout << servers.said() << '\n';
  if (!cluster) return;
  EXPECT_EQ(cluster->wait(), 0);
  std::cout << cluster->said() << '\n';
}

class planted_fault_test : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(planted_fault_test, is_noticed) {
  if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "sqlite is not selected";
  const auto [what, rule] = GetParam();
  run_of_faults run{
      {"--seconds", "6", "--database", "sqlite", "--fault", "client-stopped", "--planted", what}};
  EXPECT_EQ(run.wait(), 1);
  EXPECT_NE(run.said().find(rule), std::string::npos) << run.said();
}

INSTANTIATE_TEST_SUITE_P(workers, planted_fault_test,
                         testing::Values(std::pair{"unguarded", "client-stopped on sqlite: ledger: "},
                                         std::pair{"deaf", "client-stopped on sqlite: exclusion: "}),
                         [](const auto& info) { return std::string{info.param.first}; });

}  // namespace

}  // namespace rowlock::test
