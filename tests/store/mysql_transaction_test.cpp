#ifdef ROWLOCK_TEST_MYSQL

// MySQL has no limit for an idle transaction, so a transaction lowers the limit for its idle session.
#include "store/mysql_test.hpp"
#include "store/open.hpp"

#include <thread>

namespace rowlock::test {
namespace {

class mysql_transaction_test : public mysql_test {
 protected:
  std::string limit_of(const store::session& session) {
    return side_->value(
        "SELECT v.variable_value FROM performance_schema.variables_by_thread AS v "
        "JOIN performance_schema.threads AS t ON t.thread_id = v.thread_id "
        "WHERE t.processlist_id = ? AND v.variable_name = 'wait_timeout'",
        {connection_of(session)});
  }
  bool is_connected(const std::string& connection) {
    return side_->value("SELECT count(*) FROM information_schema.processlist WHERE id = ?", {connection}) ==
           "1";
  }
};

constexpr auto all_day = "90000";

TEST_P(mysql_transaction_test, has_a_limit_of_its_own_until_it_ends) {
  const auto session = ready();
  create(*session, "a");
  EXPECT_EQ(limit_of(*session), all_day);
  for (const bool changes : {true, false}) {
    std::string within;
    edit(*session, "a", [&](const store::lock_view& view) {
      within = limit_of(*session);
      store::lock_change change;
      if (changes) change.row = view.row;
      return change;
    });
    EXPECT_EQ(within, "5") << "as long as a statement may take";
    EXPECT_EQ(limit_of(*session), all_day) << (changes ? "after a commit" : "after a rollback");
  }
}

TEST_P(mysql_transaction_test, of_a_client_that_stands_still_ends_by_itself) {
  auto options = fixture_->options();
  options.statement_timeout = 1s;
  const auto session = store::open(fixture_->url(), options)->connect();
  session->record_database_state();
  create(*session, "a");
  const auto connection = connection_of(*session);
  const auto stand_still = [&](const store::lock_view&) {
    while (is_connected(connection)) std::this_thread::sleep_for(20ms);
    const auto other = ready();
    EXPECT_TRUE(look(*other, "a")) << "the row is still locked";
    return store::lock_change{};
  };
  EXPECT_NO_THROW(edit(*session, "a", stand_still)) << "nothing was to be written";
  EXPECT_THROW(look(*session, "a"), error);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(mysql_transaction_test);
INSTANTIATE_TEST_SUITE_P(stores, mysql_transaction_test, testing::ValuesIn(selected_of({"mysql"})),
                         store_test_name);

}  // namespace
}  // namespace rowlock::test

#endif
