#include "store/postgres/postgres_conninfo.hpp"

#include "support/temporary_folder.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

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

// Sets a variable of the environment until the end of the test.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_{name} { ::setenv(name, value.c_str(), 1); }
  ~variable() { ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

std::string servers_of(const std::string& url) {
  std::string result;
  for (const auto& one : store::postgres_conninfo{url, {}}.servers()) {
    result += one.host + '|' + one.address + '|' + one.port + ' ';
  }
  return result;
}

TEST(postgres_conninfo_test, knows_the_servers_that_the_environment_names) {
  const variable hosts{"PGHOST", "a,b"};
  const variable ports{"PGPORT", "1,2"};
  EXPECT_EQ(servers_of("postgresql:///shop"), "a||1 b||2 ");
  EXPECT_THAT(conninfo("postgresql:///shop"), HasSubstr("target_session_attrs='read-write'"));
  EXPECT_EQ(servers_of("postgresql://db:7/shop"), "db||7 ") << "the URL comes first";
  EXPECT_THAT(conninfo("postgresql://db:7/shop"), Not(HasSubstr("target_session_attrs")));
  const variable wanted{"PGTARGETSESSIONATTRS", "primary"};
  EXPECT_THAT(conninfo("postgresql:///shop"), Not(HasSubstr("target_session_attrs='read-write'")));
}

TEST(postgres_conninfo_test, knows_the_servers_and_the_password_of_a_service) {
  const temporary_folder folder;
  const variable file{"PGSERVICEFILE", (folder.path() / "services").string()};
  std::ofstream{folder.path() / "services"}
      << "[shop]\nhost=a,b\nport=1,2\npassword=hunter2\nconnect_timeout=9\ntcp_user_timeout=77\n";
  const variable outside{"PGHOST", "elsewhere"};
  for (const std::string url : {"postgresql:///?service=shop", "postgresql://?service=shop"}) {
    EXPECT_EQ(servers_of(url), "a||1 b||2 ");
    EXPECT_THAT(conninfo(url), HasSubstr("target_session_attrs='read-write'"));
    EXPECT_THAT(conninfo(url), Not(HasSubstr("tcp_user_timeout=")));
    const store::postgres_conninfo info{url, {}};
    EXPECT_EQ(info.connect_timeout(), std::chrono::seconds{9});
    EXPECT_EQ(info.scrub("password=hunter2"), "password=***");
  }
  const variable service{"PGSERVICE", "shop"};
  EXPECT_EQ(servers_of("postgresql:///shop"), "a||1 b||2 ");
}

TEST(postgres_conninfo_test, leaves_a_service_that_is_not_there_to_libpq) {
  EXPECT_THAT(conninfo("postgresql://a,b/shop?service=nowhere"), HasSubstr("service='nowhere'"));
  EXPECT_EQ(servers_of("postgresql://a,b/shop?service=nowhere"), "a|| b|| ");
}

TEST(postgres_conninfo_test, quotes_values) {
  EXPECT_THAT(conninfo("postgresql://app:it%27s%5C@db/shop"), HasSubstr(R"(password='it\'s\\')"));
}

TEST(postgres_conninfo_test, keeps_the_options_limit_unless_the_url_has_one) {
  store::store_options options;
  options.connect_timeout = std::chrono::milliseconds{300};
  const auto limit = [&](const std::string& url) {
    return store::postgres_conninfo{url, options}.connect_timeout();
  };
  EXPECT_EQ(limit("postgresql://db/shop"), std::chrono::milliseconds{300});
  EXPECT_EQ(limit("postgresql://db/shop?connect_timeout=9"), std::chrono::seconds{9});
  EXPECT_EQ(limit("postgresql://db/shop?connect_timeout=0"), std::chrono::milliseconds{300});
}

TEST(postgres_conninfo_test, names_each_server_by_itself) {
  EXPECT_EQ(servers_of("postgresql:///shop"), "|| ");
  EXPECT_EQ(servers_of("postgresql://db/shop"), "db|| ");
  EXPECT_EQ(servers_of("postgresql://a:1,b:2/shop"), "a||1 b||2 ");
  EXPECT_EQ(servers_of("postgresql://a,b/shop?port=7"), "a||7 b||7 ");
  EXPECT_EQ(servers_of("postgresql://a,b/shop?hostaddr=10.0.0.1,10.0.0.2"), "a|10.0.0.1| b|10.0.0.2| ");
  const store::postgres_conninfo info{"postgresql://a:1,b:2/shop", {}};
  const auto text = info.text(info.servers()[1]);
  EXPECT_THAT(text, HasSubstr("host='b'"));
  EXPECT_THAT(text, HasSubstr("port='2'"));
  EXPECT_THAT(text, Not(HasSubstr("'a")));
}

TEST(postgres_conninfo_test, scrubs_the_password_where_it_stands_as_one) {
  const store::postgres_conninfo info{"postgresql://app:hunter%402@db/shop", {}};
  EXPECT_EQ(info.scrub("postgresql://app:hunter@2@db/shop"), "postgresql://app:***@db/shop");
  EXPECT_EQ(info.scrub("user='app' password='hunter@2' host=db"), "user='app' password='***' host=db");
  EXPECT_EQ(info.scrub("user=app password=hunter@2"), "user=app password=***");
  const store::postgres_conninfo short_one{"postgresql://app:a@db/shop", {}};
  EXPECT_EQ(short_one.scrub("PostgreSQL refused find: a statement of app's was cancelled"),
            "PostgreSQL refused find: a statement of app's was cancelled");
}

TEST(postgres_conninfo_test, names_a_parameter_that_libpq_does_not_know) {
  const auto refusal = [](const std::string& url) -> std::string {
    try {
      conninfo(url);
    } catch (const error& thrown) {
      return thrown.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("postgresql://u@h/x?sslmod=require"),
            "the PostgreSQL URL has a parameter \"sslmod\" that libpq does not know; did you mean sslmode?");
  EXPECT_THAT(refusal("postgresql://u@h/x?connect_timeout=1&application=me"), HasSubstr("\"application\""));
  EXPECT_EQ(refusal("postgresql://u@h/x?ssl=true"), "accepted");
}

TEST(postgres_conninfo_test, tells_how_to_write_a_percent_sign) {
  for (const std::string url :
       {"postgresql://u:50%off@h/x", "postgresql://u:p@h/100%", "postgresql://u@[fe80::1%eth0]/x"}) {
    try {
      conninfo(url);
      ADD_FAILURE() << url;
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::invalid_argument);
      EXPECT_THAT(thrown.what(), HasSubstr("write % itself as %25")) << url;
    }
  }
  EXPECT_NO_THROW(conninfo("postgresql://u:50%25off@h/x"));
}

TEST(postgres_conninfo_test, refuses_an_unreadable_url_without_repeating_it) {
  for (const std::string url :
       {"postgresql://u:%zzsecret@h/x", "postgresql://u@h/x?password=a&secret=1",
        "postgresql://u:p?a=1@h/x?secret=1", "postgresql://u@h/x?sslmod=secret",
        "postgresql://u:p@secret@h/x", "postgresql://u:secret/x@h/x", "postgresql://u@h/x?sslmode"}) {
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
