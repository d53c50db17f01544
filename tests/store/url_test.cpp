#include "store/url.hpp"

#include "store/open.hpp"
#include "store/registry.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace rowlock::test {
namespace {

std::string refusal_of(const std::string& url) {
  try {
    store::parse_url(url);
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::invalid_argument);
    return refused.what();
  }
  ADD_FAILURE() << url << " was accepted";
  return {};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(url, names_the_dialect_and_what_its_store_opens) {
  EXPECT_EQ(store::parse_url("postgresql://app:pw@db/shop?sslmode=require").dialect, "postgres");
  EXPECT_EQ(store::parse_url("postgresql://app:pw@db/shop").target, "postgresql://app:pw@db/shop");
  EXPECT_EQ(store::parse_url("postgres://db/shop").dialect, "postgres");
  EXPECT_EQ(store::parse_url("mysql://app:pw@db/shop").dialect, "mysql");
  EXPECT_EQ(store::parse_url("mariadb://app:pw@db/shop").dialect, "mysql");
  EXPECT_EQ(store::parse_url("mariadb://app:pw@db/shop").target, "mariadb://app:pw@db/shop");
  EXPECT_EQ(store::parse_url("sqlite:rel.db").dialect, "sqlite");
  EXPECT_EQ(store::parse_url("sqlite:rel.db").target, "rel.db");
  EXPECT_EQ(store::parse_url("sqlite:/abs.db").target, "/abs.db");
}

TEST(url, names_the_scheme_that_other_tools_spell_differently) {
  for (const auto& [url, written, meant] :
       {std::tuple{"mysql2://app:hush@db/shop", "mysql2:;", "mysql: instead"},
        {"sqlite3:locks.db", "sqlite3:;", "sqlite: instead"},
        {"postgresql+psycopg2://app:hush@db/shop", "postgresql+psycopg2:;", "postgresql: instead"},
        {"mysql+pymysql://app:hush@db/shop", "mysql+pymysql:;", "mysql: instead"},
        {"jdbc:mariadb://db/shop?password=hush", "jdbc:mariadb:;", "mariadb: instead"},
        {"jdbc:postgresql://db/shop", "jdbc:postgresql:;", "postgresql: instead"}}) {
    EXPECT_TRUE(says(refusal_of(url), written)) << refusal_of(url);
    EXPECT_TRUE(says(refusal_of(url), meant)) << refusal_of(url);
    EXPECT_FALSE(says(refusal_of(url), "hush"));
  }
}

TEST(url, asks_for_brackets_around_an_ipv6_address) {
  for (const std::string url : {"mysql://app:hush@::1/shop", "postgresql://app@fe80::1:5432/shop",
                                "postgresql://::1/shop", "mysql://a,::1/shop"}) {
    EXPECT_TRUE(says(refusal_of(url), "[::1]")) << url;
  }
  EXPECT_EQ(store::parse_url("postgresql://app:a:b:c@[::1]:5432/shop").dialect, "postgres");
  EXPECT_EQ(store::parse_url("mysql://[::1],b:3307/shop").dialect, "mysql");
}

TEST(url, refuses_a_database_in_memory_and_says_why) {
  EXPECT_TRUE(says(refusal_of("sqlite::memory:"), "protects nothing"));
}

TEST(url, refuses_forms_of_sqlite_that_tools_read_differently) {
  EXPECT_TRUE(says(refusal_of("sqlite:///rel.db"), "sqlite:relative.db"));
  EXPECT_TRUE(says(refusal_of("sqlite:locks.db?mode=ro"), "takes no parameter \"mode\""));
  EXPECT_TRUE(says(refusal_of("sqlite:"), "names no file"));
}

TEST(url, names_a_parameter_that_is_not_known_and_what_may_have_been_meant) {
  const std::vector<std::string> known{"host", "password", "sslmode", "ssl_ca"};
  const auto near = [&](std::string_view query) { return store::find_unknown_parameter(query, known); };
  EXPECT_FALSE(near(""));
  EXPECT_FALSE(near("sslmode=require&host=db&"));
  for (const std::string name : {"sslmod", "ssl_mode", "ssl-mode", "SSLMODE", "slsmode"}) {
    const auto found = near("host=db&" + name + "=require");
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->advice, "; did you mean sslmode?") << name;
  }
  EXPECT_EQ(near("sslca=x").value().advice, "; did you mean ssl_ca?");
  EXPECT_EQ(near("application=x").value().quoted_name(), " \"application\"");
  EXPECT_EQ(near("application=x").value().advice, "");
}

// If an '&' or a '?' in a password is not percent-encoded, the rest of the password looks like parameters.
TEST(url, names_no_parameter_that_may_be_a_part_of_a_secret) {
  const std::vector<std::string> known{"host", "password", "sslmode"};
  for (const std::string_view query :
       {"hush=1@db/shop", "a&hush=1@db/shop", "password=x&hush=1", "hush", "host=db&hush", "hu%73h=1",
        "hu sh=1", "hush\"=1", "password=sslmod&sslmod=hush"}) {
    const auto found = store::find_unknown_parameter(query, known);
    ASSERT_TRUE(found) << query;
    EXPECT_EQ(found->name, "") << query;
    EXPECT_EQ(found->advice, "") << query;
  }
}

TEST(url, refuses_stores_that_are_not_there_with_what_is) {
  for (const std::string url : {"oracle://app:hush@db/shop", "https://app:hush@db/shop"}) {
    const auto text = refusal_of(url);
    EXPECT_TRUE(says(text, url.substr(0, url.find(':')))) << text;
    EXPECT_TRUE(says(text, "sqlite:")) << text;
    EXPECT_FALSE(says(text, "hush")) << text;
  }
}

TEST(url, never_repeats_what_it_could_not_read) {
  for (const std::string url : {"app hush", "host=db password=hush", "Hush://db", "hush",
                                "postgresql:app:hush@db", "//app:hush@db/shop", "h4sh:hush"}) {
    EXPECT_FALSE(says(refusal_of(url), "hush")) << url;
  }
  refusal_of("");
  refusal_of("sqlite:a\nb");
}

TEST(url, hide_secret_hides_it_in_a_url_and_as_a_value) {
  for (const std::string text : {"postgresql://app:hush@db/shop", "mysql://app:hush@db/shop",
                                 "password=hush user=app", "sslpassword='hush'", "password=\"hush\"",
                                 "?user=app&password=hush&sslmode=require", "app:hush@db"}) {
    EXPECT_FALSE(says(store::hide_secret(text, "hush"), "hush")) << text;
  }
}

TEST(url, hide_secret_leaves_the_same_letters_elsewhere) {
  for (const auto& [secret, text] :
       {std::pair{"lock", "Table 's.row_lock_meta' doesn't exist"},
        {"no", "cannot connect: unknown host"},
        {"app", "Access denied for user 'app'@'localhost' (using password: YES)"},
        {"", "no password"}}) {
    EXPECT_EQ(store::hide_secret(text, secret), text);
  }
}

TEST(url, open_checks_prefix_and_schema_before_it_opens_anything) {
  const auto refused = [](const std::string& prefix, const std::string& schema) {
    store::store_options options;
    options.prefix = prefix;
    options.schema = schema;
    try {
      store::open("sqlite:/nowhere/locks.db", options);
    } catch (const error& caught) {
      return caught.code() == errc::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused("Robert'); DROP TABLE", ""));
  EXPECT_TRUE(refused("", ""));
  EXPECT_TRUE(refused("rowlock_", "a b"));
  EXPECT_TRUE(refused("rowlock_", "public")) << "SQLite has no schemas";
  EXPECT_FALSE(refused("rowlock_", ""));
}

TEST(url, dialect_of_asks_what_is_linked) {
  EXPECT_EQ(store::dialect_of("sqlite:a.db"), "sqlite");
  EXPECT_THROW(store::dialect_of("oracle://db"), error);
  const auto dialects = store::linked_dialects();
  if (std::find(dialects.begin(), dialects.end(), "postgres") == dialects.end()) {
    EXPECT_THROW(store::dialect_of("postgresql://db"), error);
  } else {
    EXPECT_EQ(store::dialect_of("postgresql://db"), "postgres");
  }
}

}  // namespace
}  // namespace rowlock::test
