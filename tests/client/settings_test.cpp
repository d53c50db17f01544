// The options are checked together, and a refusal names their values.
#include "client/base/settings.hpp"
#include "client/client_test.hpp"

namespace rowlock::test {
namespace {

struct contradiction {
  const char* what;
  std::function<void(options&)> make;
  std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const contradiction& shown) {
  return out << shown.what;
}

class settings_test : public testing::TestWithParam<contradiction> {};

TEST_P(settings_test, are_refused_with_their_values) {
  options settings;
  GetParam().make(settings);
  try {
    client_layer::checked_settings(settings);
    FAIL() << "nothing was thrown";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::invalid_argument);
    EXPECT_FALSE(refused.transient());
    for (const auto& word : GetParam().says) EXPECT_THAT(refused.what(), testing::HasSubstr(word));
  }
}

INSTANTIATE_TEST_SUITE_P(
    contradictions, settings_test,
    testing::Values(
        contradiction{"a_ttl_too_short", [](auto& s) { s.ttl = 999ms; }, {"ttl of 999 ms", "1 second"}},
        contradiction{"a_ttl_too_long", [](auto& s) { s.ttl = 24h + 1ms; }, {"86400001 ms", "24 hours"}},
        contradiction{"a_negative_ttl", [](auto& s) { s.ttl = -1s; }, {"-1000 ms"}},
        contradiction{"a_renewal_too_seldom",
                      [](auto& s) {
                        s.ttl = 10s;
                        s.renew_interval = 5001ms;
                      },
                      {"5001 ms", "10000 ms", "half"}},
        contradiction{"a_negative_renewal", [](auto& s) { s.renew_interval = -1ms; }, {"-1 ms"}},
        contradiction{"a_margin_too_wide",
                      [](auto& s) {
                        s.ttl = 4s;
                        s.margin = 1001ms;
                      },
                      {"1001 ms", "4000 ms", "quarter"}},
        contradiction{"a_negative_margin", [](auto& s) { s.margin = -1ms; }, {"-1 ms"}},
        contradiction{"a_negative_skew", [](auto& s) { s.skew = -5ms; }, {"-5 ms"}},
        contradiction{"an_absurd_skew", [](auto& s) { s.skew = 25h; }, {"skew", "90000000 ms"}},
        contradiction{"a_statement_longer_than_a_third_of_the_ttl",
                      [](auto& s) {
                        s.ttl = 9s;
                        s.statement_timeout = 3001ms;
                      },
                      {"3001 ms", "9000 ms", "third"}},
        contradiction{
            "no_statement_timeout", [](auto& s) { s.statement_timeout = 0ms; }, {"statement_timeout"}},
        contradiction{"no_connect_timeout", [](auto& s) { s.connect_timeout = 0ms; }, {"connect_timeout"}},
        contradiction{"no_poll_interval", [](auto& s) { s.poll_interval = 0ms; }, {"poll_interval"}},
        contradiction{
            "no_close_timeout", [](auto& s) { s.close_timeout = -1ms; }, {"close_timeout", "-1 ms"}},
        contradiction{"an_absurd_close_timeout", [](auto& s) { s.close_timeout = 25h; }, {"close_timeout"}},
        contradiction{"a_negative_sweep", [](auto& s) { s.sweep_interval = -1s; }, {"sweep_interval"}},
        contradiction{"one_connection", [](auto& s) { s.connections = 1; }, {"connections is 1;", "2 to 16"}},
        contradiction{"too_many_connections", [](auto& s) { s.connections = 17; }, {"17"}},
        contradiction{"no_time_for_a_renewal_after_one_that_hung",
                      [](auto& s) {
                        s.ttl = 10s;
                        s.renew_interval = 5s;
                        s.statement_timeout = 3300ms;
                        s.margin = 500ms;
                      },
                      {"ttl of 10000 ms", "5000 ms", "3300 ms", "500 ms", "60 ms are missing"}},
        contradiction{"an_application_too_long",
                      [](auto& s) { s.application = std::string(256, 'a'); },
                      {"256 bytes", "255"}},
        contradiction{
            "an_application_that_is_no_utf8", [](auto& s) { s.application = "caf\xC3"; }, {"UTF-8"}},
        contradiction{
            "an_application_of_two_lines", [](auto& s) { s.application = "a\nb"; }, {"control character"}},
        contradiction{"a_bad_prefix", [](auto& s) { s.prefix = "Rowlock-"; }, {"prefix", "[a-z_]"}},
        contradiction{"a_bad_schema", [](auto& s) { s.schema = "a.b"; }, {"schema", "[a-z_]"}}),
    [](const auto& one) { return std::string{one.param.what}; });

TEST(settings_default_test, are_good) {
  EXPECT_NO_THROW(client_layer::checked_settings({}));
}

TEST(settings_default_test, follow_a_short_ttl) {
  options settings;
  settings.ttl = 3s;
  EXPECT_EQ(client_layer::checked_settings(settings).statement_timeout, 1s);
}

TEST(settings_default_test, survive_a_hung_renewal_with_the_shortest_ttl) {
  options settings;
  settings.ttl = 1s;
  const auto checked = client_layer::checked_settings(settings);
  EXPECT_GT(checked.statement_timeout, 200ms);
  EXPECT_LT(client_layer::renew_interval(checked) + checked.statement_timeout +
                client_layer::answer_grace(checked) + checked.margin,
            900ms);
  settings.renew_interval = 500ms;
  EXPECT_NO_THROW(client_layer::checked_settings(settings));
}

TEST(settings_default_test, renew_three_times_in_a_ttl) {
  options settings;
  settings.ttl = 3s;
  EXPECT_EQ(client_layer::renew_interval(settings), 1s);
}

TEST(settings_default_test, are_the_longest_that_are_allowed_too) {
  options settings;
  settings.ttl = 24h;
  settings.renew_interval = 12h;
  settings.margin = 3h;
  settings.statement_timeout = 6h;
  settings.connections = 16;
  EXPECT_NO_THROW(client_layer::checked_settings(settings));
}

}  // namespace
}  // namespace rowlock::test
