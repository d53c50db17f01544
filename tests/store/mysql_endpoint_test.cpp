#ifdef ROWLOCK_TEST_MYSQL

#include "store/mysql/mysql_endpoint.hpp"
#include "support/mysql_connection.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string connect_string(const std::string& url) {
  return store::mysql_endpoint{url}.connect_string(2'500ms, 4s);
}

std::string refusal_of(const std::string& url) {
  try {
    store::mysql_endpoint{url};
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::invalid_argument);
    EXPECT_THAT(refused.what(), Not(HasSubstr("hush")));
    return refused.what();
  }
  ADD_FAILURE() << url << " was accepted";
  return {};
}

TEST(mysql_endpoint_test, takes_a_url_apart) {
  const auto text = connect_string("mysql://app:hush@db.example:3307/shop");
  for (const auto* part : {"user='app'", "password='hush'", "host='db.example'", "port='3307'",
                           "dbname='shop'", "connect_timeout=3", "read_timeout=5", "write_timeout=5"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(mysql_endpoint_test, leaves_out_what_the_url_does_not_say) {
  const auto text = store::mysql_endpoint{"mariadb:///shop"}.connect_string(1s, 0s);
  for (const auto* part : {"user", "password", "host", "port", "read_timeout"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
}

TEST(mysql_endpoint_test, decodes_and_quotes) {
  EXPECT_THAT(connect_string("mysql://a%40b:it%27s%5C%2F%3A%20x@db/shop"),
              testing::AllOf(HasSubstr("user='a@b'"), HasSubstr("password='it\\'s\\\\/: x'")));
  EXPECT_THAT(connect_string("mysql://[::1]:3307/shop"),
              testing::AllOf(HasSubstr("host='::1'"), HasSubstr("port='3307'")));
}

// To the client library "localhost" means the Unix socket, whatever the port.
TEST(mysql_endpoint_test, a_port_of_localhost_is_meant) {
  EXPECT_THAT(connect_string("mysql://localhost:3307/shop"), HasSubstr("host='127.0.0.1'"));
  EXPECT_THAT(connect_string("mysql://localhost/shop"), HasSubstr("host='localhost'"));
  EXPECT_THAT(connect_string("mysql:///shop?socket=/run/my%20sql.sock"),
              HasSubstr("unix_socket='/run/my sql.sock'"));
}

TEST(mysql_endpoint_test, takes_several_places_each_with_its_port) {
  const store::mysql_endpoint endpoint{"mysql://app:hush@one:3307,[::1]:3308,localhost:3309,four/shop"};
  ASSERT_EQ(endpoint.places(), 4U);
  const auto at = [&](std::size_t place) { return endpoint.connect_string(1s, 1s, place); };
  EXPECT_THAT(at(0),
              testing::AllOf(HasSubstr("host='one'"), HasSubstr("port='3307'"), HasSubstr("user='app'")));
  EXPECT_THAT(at(1), testing::AllOf(HasSubstr("host='::1'"), HasSubstr("port='3308'")));
  EXPECT_THAT(at(2), testing::AllOf(HasSubstr("host='127.0.0.1'"), HasSubstr("port='3309'")));
  EXPECT_THAT(at(3), testing::AllOf(HasSubstr("host='four'"), Not(HasSubstr("port"))));
  EXPECT_THAT(refusal_of("mysql://app:hush@one,/shop"), HasSubstr("has no name"));
  EXPECT_THAT(refusal_of("mysql://app:hush@one,two:x/shop"), HasSubstr("port"));
  EXPECT_THAT(refusal_of("mysql://app:hush@one,two/shop?socket=/s"), HasSubstr("no socket"));
}

TEST(mysql_endpoint_test, refuses_what_it_cannot_read_and_repeats_no_password) {
  EXPECT_THAT(refusal_of("mysql://app:hush@db"), HasSubstr("name one database"));
  EXPECT_THAT(refusal_of("mysql://app:hush@db/a/b"), HasSubstr("name one database"));
  EXPECT_THAT(refusal_of("mysql://app:a@hush@db/shop"), HasSubstr("%40"));
  EXPECT_THAT(refusal_of("mysql://app:a/hush@db/shop"), HasSubstr("%2F"));
  EXPECT_THAT(refusal_of("mysql://app:a%hush@db/shop"), HasSubstr("%25"));
  EXPECT_THAT(refusal_of("mysql://app:a%00hush@db/shop"), HasSubstr("zero byte"));
  EXPECT_THAT(refusal_of("mysql://app:#hush@db/shop"), HasSubstr("%23"));
  EXPECT_THAT(refusal_of("mysql://app@db:hush/shop"), HasSubstr("port"));
  EXPECT_THAT(refusal_of("mysql://app@db:0/shop"), HasSubstr("port"));
  EXPECT_THAT(refusal_of("mysql://app:1?hush=1@db/shop"), HasSubstr("name one database"));
}

TEST(mysql_endpoint_test, names_a_parameter_that_it_does_not_know_and_those_that_it_knows) {
  EXPECT_THAT(
      refusal_of("mysql://db/shop?ssl-mode=hush"),
      testing::AllOf(HasSubstr("\"ssl-mode\""), HasSubstr("did you mean ssl_mode?"),
                     HasSubstr("It takes socket, ssl_mode, ssl_ca, ssl_cert, ssl_key, and no other")));
  EXPECT_THAT(refusal_of("mysql://db/shop?compress=1"),
              testing::AllOf(HasSubstr("\"compress\""), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refusal_of("mysql://db/shop?password=hush"), HasSubstr("no other"));
}

TEST(mysql_endpoint_test, refuses_a_verification_that_nobody_would_do) {
  for (const std::string mode : {"VERIFY_CA", "verify_ca"}) {
    EXPECT_THAT(refusal_of("mysql://db/shop?ssl_ca=/ca.pem&ssl_mode=" + mode), HasSubstr("refused"));
  }
  for (const std::string without_name :
       {"mysql:///shop?", "mysql://localhost/shop?", "mysql://db/shop?socket=/s&"}) {
    EXPECT_THAT(refusal_of(without_name + "ssl_mode=VERIFY_IDENTITY"), HasSubstr("Unix socket"));
  }
  for (const std::string loopback : {"127.0.0.1", "[::1]:3307", "localhost:3307", "db,127.0.0.1"}) {
    EXPECT_THAT(refusal_of("mysql://" + loopback + "/shop?ssl_ca=/ca.pem&ssl_mode=VERIFY_IDENTITY"),
                HasSubstr("compares no certificate"));
  }
  EXPECT_THAT(refusal_of("mysql://db/shop?ssl_mode=REQUIRED"), HasSubstr("ssl_ca"));
  EXPECT_THAT(refusal_of("mysql://db/shop?ssl_cert=/c.pem&ssl_key=/k.pem"), HasSubstr("ssl_ca"));
  EXPECT_THAT(refusal_of("mysql://db/shop?ssl_ca=/ca.pem&ssl_mode=DISABLED"), HasSubstr("contradict"));
  EXPECT_THAT(refusal_of("mysql://db/shop?ssl_mode=hush"), HasSubstr("REQUIRED"));
}

TEST(mysql_endpoint_test, an_authority_is_named_to_be_asked) {
  EXPECT_TRUE(store::mysql_endpoint{"mysql://db/shop?ssl_ca=/ca.pem"}.must_encrypt());
  EXPECT_TRUE(store::mysql_endpoint{"mysql://db/shop?ssl_ca=/ca.pem&ssl_mode=REQUIRED"}.must_encrypt());
  EXPECT_FALSE(store::mysql_endpoint{"mysql://db/shop?ssl_ca=/ca.pem&ssl_mode=PREFERRED"}.must_encrypt());
  EXPECT_FALSE(store::mysql_endpoint{"mysql://db/shop"}.must_encrypt());
  EXPECT_THAT(connect_string("mysql://db/shop?ssl_ca=/ca.pem&ssl_cert=/c.pem&ssl_key=/k.pem"),
              testing::AllOf(HasSubstr("sslca='/ca.pem'"), HasSubstr("sslcert='/c.pem'"),
                             HasSubstr("sslkey='/k.pem'")));
}

TEST(mysql_endpoint_test, has_the_name_verified_by_the_client_library) {
  const store::mysql_endpoint endpoint{"mysql://db.example:3307/shop?ssl_mode=verify_identity"};
  EXPECT_TRUE(endpoint.must_encrypt());
  EXPECT_THAT(endpoint.connect_string(1s, 1s),
              testing::AllOf(HasSubstr("host='host={db.example};ssl-verify-server-cert=1'"),
                             HasSubstr("port='3307'")));
  EXPECT_THAT(connect_string("mysql://[fe80::1%25eth0]/shop?ssl_mode=VERIFY_IDENTITY"),
              HasSubstr("host='host={fe80::1%eth0};"));
  // Without a file, the client library would accept certificates of other authorities than the system's.
  EXPECT_THAT(endpoint.connect_string(1s, 1s), HasSubstr("sslca='/"));
}

// From version 3.4 the client library verifies the name as well.
TEST(mysql_endpoint_test, has_the_chain_verified_by_the_client_library) {
  const std::string ask = "host='host={db};ssl-verify-server-cert=1'";
  for (const std::string mode : {"", "&ssl_mode=REQUIRED"}) {
    EXPECT_THAT(connect_string("mysql://db/shop?ssl_ca=/ca.pem" + mode),
                HasSubstr(mysql_get_client_version() < 30400 ? "host='db'" : ask));
  }
  EXPECT_THAT(connect_string("mysql://db/shop?ssl_ca=/ca.pem&ssl_mode=PREFERRED"), HasSubstr("host='db'"));
  EXPECT_THAT(connect_string("mysql://db/shop"), HasSubstr("host='db'"));
}

// An address could otherwise contain options of the client library, which would override what other parameters ask for.
TEST(mysql_endpoint_test, a_host_is_a_host) {
  for (const std::string host :
       {"db;ssl-ca=%2Fx", "host=db", "db%7D%3Bssl-verify-server-cert%3D0", "replication:%2F%2Fdb"}) {
    EXPECT_THAT(refusal_of("mysql://" + host + "/shop"), HasSubstr("host")) << host;
  }
}

TEST(mysql_endpoint_test, scrubs_the_password_where_it_stands_as_one) {
  const store::mysql_endpoint endpoint{"mysql://app:hu%40sh@db/shop"};
  EXPECT_EQ(endpoint.scrub("mysql://app:hu@sh@db/shop"), "mysql://app:***@db/shop");
  EXPECT_EQ(endpoint.scrub("user='app' password='hu@sh' dbname='shop'"),
            "user='app' password='***' dbname='shop'");
  EXPECT_EQ(store::mysql_endpoint{"mysql://app:lock@db/shop"}.scrub("Table 's.row_lock_meta' doesn't exist"),
            "Table 's.row_lock_meta' doesn't exist");
  EXPECT_EQ(store::mysql_endpoint{"mysql://app:no@db/shop"}.scrub("cannot connect"), "cannot connect");
}

}  // namespace
}  // namespace rowlock::test

#endif
