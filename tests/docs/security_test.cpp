// The statements of docs/security.md about notifications and about MySQL's parameters.
#include "cli/cli_test.hpp"
#include "docs/document.hpp"
#include "migrate/blank_database.hpp"

#include "support/background.hpp"

#include <rowlock/rowlock.hpp>

#include <future>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

std::set<std::string> found_in(const std::string& text, const std::regex& what) {
  std::set<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), what}; at != std::sregex_iterator{}; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

// Every role of the database may notify a channel. A waiter that hears of a grant reads the tables.
class notified_test : public testing::TestWithParam<std::string> {};

TEST_P(notified_test, a_forged_notification_grants_nothing) {
  const blank_database db{GetParam()};
  migrator{db.url(), db.settings()}.up();
  auto settings = db.settings();
  settings.close_timeout = 20s;  // the machine may pause
  const auto holder = connect(db.url(), settings);
  const auto waiter = connect(db.url(), settings);
  hold held = mutex(holder, "billing/nightly").acquire();
  auto next = in_background([&] { return mutex(waiter, "billing/nightly").acquire(); });
  eventually("it waits", [&] { return !admin{holder}.queue("billing/nightly").empty(); });

  const auto reads = waiter.stats().statements;
  db.run(
      "SELECT pg_notify('rowlock_' || replace(w.client_id::text, '-', ''), "
      "                 replace(q.hold_id::text, '-', '')) "
      "FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id");
  eventually("it has looked", [&] { return waiter.stats().statements > reads; });
  EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(held);

  const auto token = held.token();
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_GT(next.get().token(), token);
}

INSTANTIATE_TEST_SUITE_P(stores, notified_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(notified_test);

TEST(security, names_each_parameter_of_mysql_for_encryption) {
  static const std::regex parameter{R"re(["`](ssl_[a-z]+)\b)re"};
  static const std::regex mode{R"re(ssl_mode=([A-Z_]{2,})\b)re"};
  const auto page = text_of("docs/security.md");
  const auto code = text_of("src/store/mysql/mysql_endpoint.cpp");
  EXPECT_EQ(found_in(page, parameter), found_in(code, parameter));
  const std::set<std::string> modes{"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"};
  EXPECT_EQ(found_in(page, mode), modes);
  for (const auto& one : modes) EXPECT_NE(code.find('"' + one + '"'), std::string::npos) << one;
}

}  // namespace
}  // namespace rowlock::test
