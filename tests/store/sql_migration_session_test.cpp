// The lock that keeps two migrators apart, on a server that has none.
#include "store/sql_migration_session.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rowlock::test {
namespace {

class session_without_locks final : public store::sql_migration_session {
 public:
  explicit session_without_locks(std::string refusal) : refusal_(std::move(refusal)) {}

  std::vector<std::string> sent;

 private:
  void read(const std::string& statement, store::sql_values, const store::rows_reader&) override {
    sent.push_back(statement);
    throw error(errc::database, refusal_);
  }
  void write(const std::string& statement, store::sql_values) override { sent.push_back(statement); }
  void run(const std::string&, const std::string&, const std::function<void()>&) override {}
  bool lacks_locks(const error& refusal) const override {
    return refusal.what() == std::string{"no such lock"};
  }
  const std::string& prefix() const override { return prefix_; }

  std::string refusal_;
  std::string prefix_ = "rowlock_";
};

TEST(sql_migration_session_test, works_without_the_lock_that_the_server_lacks) {
  session_without_locks session{"no such lock"};
  bool has_run = false;
  session.exclusively([&] { has_run = true; });
  EXPECT_TRUE(has_run);
  EXPECT_EQ(session.sent, std::vector<std::string>{"migrate_take"}) << "nothing is given back";
}

TEST(sql_migration_session_test, does_nothing_if_the_lock_fails_otherwise) {
  session_without_locks session{"the server is going away"};
  EXPECT_THROW(session.exclusively([] { FAIL() << "it ran without the lock"; }), error);
}

}  // namespace
}  // namespace rowlock::test
