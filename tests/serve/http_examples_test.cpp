// The clients in examples/http, run as their first lines say. Those in Node and Go are skipped where these are missing.
#include "docs/shell.hpp"
#include "serve/serve_test.hpp"

#include <rowlock/rowlock.hpp>

#include <cstdlib>

namespace rowlock::test {

class http_examples_test : public serve_test {
 protected:
  command_result run(const served& on, words command,
                     std::map<std::string, std::string> environment = {}) const {
    environment["ROWLOCK_SERVE"] = "http://127.0.0.1:" + std::to_string(on.port);
    environment["ROWLOCK_BEARER"] = worker.token;
    return start_with_rowlock_in_path(command, environment)->wait();
  }
  static std::string example(const std::string& file) {
    return std::string{ROWLOCK_SOURCE_DIR} + "/examples/http/" + file;
  }
  // The program takes this lock, prints the token of its hold and releases it.
  void expect_hold(const command_result& result) const {
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    const auto lock = admin{db}.show("billing/nightly");
    ASSERT_TRUE(lock);
    EXPECT_EQ(result.out, "token " + lock->token.to_string() + "\n");
    EXPECT_TRUE(lock->holders.empty());
  }

  const serve::new_token worker = serve::make_token("worker", {serve::role::lock});
  const client db = client_beside_it();
};

TEST_P(http_examples_test, shell) {
  if (!is_installed("curl")) GTEST_SKIP() << "curl is not installed";
  const auto server = start_with_tokens({worker});
  expect_hold(
      run(server, {example("lock.sh"), "billing%2Fnightly", "sh", "-c", "echo token $ROWLOCK_TOKEN"}));
  EXPECT_EQ(run(server, {example("lock.sh"), "billing%2Fnightly", "sh", "-c", "exit 3"}).exit_code, 3);
  const auto lost = run(
      server, {example("lock.sh"), "billing%2Fnightly", "rowlock", "release", "billing/nightly", "--force"},
      environment());
  EXPECT_EQ(lost.exit_code, 76) << "it was taken while the command ran: " << lost.out << lost.err;
}

TEST_P(http_examples_test, python) {
  const auto server = start_with_tokens({worker});
  expect_hold(run(server, {"python3", example("lock.py"), "billing/nightly"}));
}

TEST_P(http_examples_test, node) {
  if (!is_installed("node")) GTEST_SKIP() << "node is not installed";
  const auto server = start_with_tokens({worker});
  expect_hold(run(server, {"node", example("lock.mjs"), "billing/nightly"}));
}

TEST_P(http_examples_test, go) {
  if (!is_installed("go")) GTEST_SKIP() << "go is not installed";
  const temporary_folder cache;
  const auto program = (cache.path() / "lock").string();
  const auto built = std::system(("GOCACHE='" + cache.path().string() + "' GO111MODULE=off go build -o '" +
                                  program + "' '" + example("lock.go") + "'")
                                     .c_str());
  ASSERT_EQ(built, 0);
  const auto server = start_with_tokens({worker});
  expect_hold(run(server, {program, "billing/nightly"}));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(http_examples_test);
INSTANTIATE_TEST_SUITE_P(stores, http_examples_test, testing::ValuesIn(selected_of({"sqlite"})),
                         store_test_name);

}  // namespace rowlock::test
