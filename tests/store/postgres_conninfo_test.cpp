#include "store/postgres/postgres_conninfo.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string conninfo(const std::string& url) {
  store::store_options options;
  options.statement_timeout = std::chrono::milliseconds{4'000};
  options.connect_timeout = std::chrono::milliseconds{2'500};
  return store::postgres_conninfo{url, options}.text();
}

TEST(postgres_conninfo_test, adds_time_limits_where_the_url_has_none) {
  const auto text = conninfo("postgresql://app@db/shop");
  EXPECT_THAT(text, HasSubstr("host='db'"));
  EXPECT_THAT(text, HasSubstr("connect_timeout='3'"));
  EXPECT_THAT(text, HasSubstr("tcp_user_timeout='4000'"));
  EXPECT_THAT(text, HasSubstr("keepalives_idle='4'"));
  EXPECT_THAT(text, Not(HasSubstr("target_session_attrs")));
}

TEST(postgres_conninfo_test, leaves_what_the_url_says) {
  const auto text =
      conninfo("postgresql://app@db/shop?connect_timeout=9&keepalives_idle=60&tcp_user_timeout=0");
  EXPECT_THAT(text, HasSubstr("connect_timeout='9'"));
  EXPECT_THAT(text, HasSubstr("keepalives_idle='60'"));
  EXPECT_THAT(text, HasSubstr("tcp_user_timeout='0'"));
}

TEST(postgres_conninfo_test, looks_for_the_primary_among_several_servers) {
  EXPECT_THAT(conninfo("postgresql://app@a:1,b:2/shop"), HasSubstr("target_session_attrs='read-write'"));
  EXPECT_THAT(conninfo("postgresql://app@a,b/shop?target_session_attrs=primary"),
              HasSubstr("target_session_attrs='primary'"));
}

TEST(postgres_conninfo_test, quotes_values) {
  EXPECT_THAT(conninfo("postgresql://app:it%27s%5C@db/shop"), HasSubstr(R"(password='it\'s\\')"));
}

TEST(postgres_conninfo_test, scrubs_the_password) {
  const store::postgres_conninfo info{"postgresql://app:hunter%402@db/shop", {}};
  EXPECT_EQ(info.scrub("no hunter@2, no hunter@2"), "no ***, no ***");
}

TEST(postgres_conninfo_test, refuses_an_unreadable_url_without_repeating_it) {
  for (const std::string url : {"postgresql://u:%zzsecret@h/x", "postgresql://u@h/x?secret=1",
                                "postgresql://u:p@secret@h/x", "postgresql://u@h/x?sslmode"}) {
    try {
      conninfo(url);
      ADD_FAILURE() << url;
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::invalid_argument);
      EXPECT_THAT(thrown.what(), Not(HasSubstr("secret")));
    }
  }
}

}  // namespace
}  // namespace rowlock::test
