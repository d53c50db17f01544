#ifdef ROWLOCK_TEST_MYSQL

// How SOCI, the client library and a server together treat a URL's ssl_… parameters.
#include "certificates.hpp"
#include "own_server.hpp"
#include "store/mysql/mysql_setup.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string with(std::string url, const std::string& part, const std::string& other) {
  return url.replace(url.find(part), part.size(), other);
}

class mysql_tls_test : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    servers_.clear();
    files_.reset();
  }
  void SetUp() override {
    if (!files_) files_ = std::make_unique<certificates>("127.0.0.2");
    server_ = &servers_.get(GetParam(), {"--ssl-ca=" + files_->known(), "--ssl-cert=" + files_->server(),
                                         "--ssl-key=" + files_->server_key(), all_addresses});
  }

  // The certificate names 127.0.0.2, because version 3.4 of the client library treats 127.0.0.1 specially.
  static constexpr const char* all_addresses = "--bind-address=127.0.0.1,127.0.0.2,127.0.0.3";
  static std::string named(const own_server& server) { return with(server.url(), "127.0.0.1", "127.0.0.2"); }
  std::string named() const { return named(*server_); }
  std::string unnamed() const { return with(server_->url(), "127.0.0.1", "127.0.0.3"); }

  // While the object lives, `file` contains the system's authorities.
  class system_authorities {
   public:
    explicit system_authorities(const std::string& file) { ::setenv("SSL_CERT_FILE", file.c_str(), 1); }
    ~system_authorities() { ::unsetenv("SSL_CERT_FILE"); }
    system_authorities(const system_authorities&) = delete;
    system_authorities& operator=(const system_authorities&) = delete;
  };

  // The cipher of a connection that has passed all checks of a new session. Empty: the connection is not encrypted.
  static std::string cipher(const std::string& url) {
    const store::mysql_context context{url, {}};
    store::mysql_connection connection{context.endpoint, context.catalog, 5s, 5s};
    store::set_up(connection, context, 5s);
    for (auto status = connection.read("connect_status"); status.next();) {
      if (status.text(0) == "Ssl_cipher") return status.text(1);
    }
    throw std::runtime_error("the server does not know Ssl_cipher");
  }
  static error refusal_of(const std::string& url) {
    try {
      return error(errc::internal, "connected, and its cipher is \"" + cipher(url) + '"');
    } catch (const error& refused) {
      return refused;
    }
  }

  static std::unique_ptr<certificates> files_;
  static own_servers servers_;
  own_server* server_ = nullptr;
};

std::unique_ptr<certificates> mysql_tls_test::files_;
own_servers mysql_tls_test::servers_;

TEST_P(mysql_tls_test, an_authority_that_has_signed_the_certificate_encrypts) {
  for (const auto& url : {named(), server_->url()}) {
    EXPECT_NE(cipher(url + "?ssl_ca=" + files_->known()), "");
    EXPECT_NE(cipher(url + "?ssl_mode=REQUIRED&ssl_ca=" + files_->known()), "");
  }
}

// All of the client's connections are encrypted: this user may make no other.
TEST_P(mysql_tls_test, a_client_works_through_it) {
  mysql_connection{server_->url()}.run(
      "CREATE USER secret@'%' IDENTIFIED BY 'rowlock' REQUIRE SSL; "
      "GRANT ALL PRIVILEGES ON *.* TO secret@'%'");
  auto url = with(server_->url(), "rowlock:", "secret:");
  EXPECT_EQ(refusal_of(url).code(), errc::authentication);
  url += "?ssl_ca=" + files_->known();
  migrator{url}.up();
  const auto db = connect(url);
  mutex nightly{db, "nightly"};
  EXPECT_GT(nightly.acquire().token(), fencing_token{});
}

TEST_P(mysql_tls_test, an_authority_that_has_not_is_refused) {
  for (const std::string mode : {"", "&ssl_mode=REQUIRED", "&ssl_mode=PREFERRED"}) {
    for (const auto& url : {named(), server_->url()}) {
      const auto refused = refusal_of(url + "?ssl_ca=" + files_->other() + mode);
      EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
      EXPECT_THAT(refused.what(), HasSubstr("certificate"));
      EXPECT_THAT(refused.what(), HasSubstr("ssl_ca")) << "the message names the parameter";
    }
  }
}

TEST_P(mysql_tls_test, an_authority_that_is_not_there_is_refused) {
  for (const std::string mode : {"", "&ssl_mode=VERIFY_IDENTITY"}) {
    const auto refused = refusal_of(named() + "?ssl_ca=/nowhere/ca.pem" + mode);
    EXPECT_EQ(refused.code(), errc::invalid_argument) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("ssl_ca in the MySQL URL names /nowhere/ca.pem"));
  }
}

TEST_P(mysql_tls_test, the_address_is_verified_where_that_is_asked_for) {
  const auto verified = "?ssl_mode=VERIFY_IDENTITY&ssl_ca=" + files_->known();
  EXPECT_NE(cipher(named() + verified), "");
  const auto refused = refusal_of(unnamed() + verified);
  EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
  EXPECT_THAT(refused.what(), HasSubstr("must name the URL's host"));
  EXPECT_EQ(refusal_of(server_->url() + verified).code(), errc::invalid_argument);
}

// Version 3.4 of MariaDB's client library verifies no certificate chain without a name.
TEST_P(mysql_tls_test, of_an_authority_alone_depends_on_the_client_library) {
  const auto url = unnamed() + "?ssl_ca=" + files_->known();
  if (mysql_get_client_version() < 30400) {
    EXPECT_NE(cipher(url), "");
  } else {
    const auto refused = refusal_of(url);
    EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("must name the URL's host"));
  }
}

TEST_P(mysql_tls_test, without_a_file_the_systems_authorities_decide) {
  const std::string verified = "?ssl_mode=VERIFY_IDENTITY";
  EXPECT_NE(refusal_of(named() + verified).code(), errc::internal) << "nobody trusts the test's authority";
  {
    const system_authorities ours{files_->known()};
    EXPECT_NE(cipher(named() + verified), "");
    EXPECT_EQ(refusal_of(unnamed() + verified).code(), errc::authentication);
  }
  {
    const system_authorities others{files_->other()};
    EXPECT_EQ(refusal_of(named() + verified).code(), errc::authentication);
  }
  const system_authorities none{"/nowhere/ca.pem"};
  const auto refused = refusal_of(named() + verified);
  EXPECT_EQ(refused.code(), errc::invalid_argument) << refused.what();
  EXPECT_THAT(refused.what(), HasSubstr("/nowhere/ca.pem cannot be read"));
}

// Without rowlock's options, version 3.4 of the client library would trust any certificate for which the server vouches
// with the user's password.
TEST_P(mysql_tls_test, a_password_vouches_for_no_certificate) {
  const auto self_made = make_own_mysql(
      GetParam(), {"--ssl-cert=" + files_->other(), "--ssl-key=" + files_->other_key(), all_addresses});
  const system_authorities ours{files_->known()};
  for (const std::string& authority : {std::string{}, "&ssl_ca=" + files_->known()}) {
    const auto refused = refusal_of(named(*self_made) + "?ssl_mode=VERIFY_IDENTITY" + authority);
    EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
  }
}

TEST_P(mysql_tls_test, a_server_without_it_is_refused_where_it_is_demanded) {
  const auto plain =
      make_own_mysql(GetParam(), {GetParam() == "mysql" ? "--tls-version=" : "--skip-ssl", all_addresses});
  for (const std::string mode : {"", "&ssl_mode=REQUIRED"}) {
    const auto refused = refusal_of(named(*plain) + "?ssl_ca=" + files_->known() + mode);
    EXPECT_EQ(refused.code(), errc::unreachable) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("offers no TLS"));
  }
  EXPECT_EQ(cipher(named(*plain) + "?ssl_mode=PREFERRED&ssl_ca=" + files_->known()), "");
  // The client does not even send a password that the server would refuse.
  const auto refused = refusal_of(with(named(*plain), "rowlock@", "wrong@") +
                                  "?ssl_mode=VERIFY_IDENTITY&ssl_ca=" + files_->known());
  EXPECT_EQ(refused.code(), errc::unreachable) << refused.what();
  EXPECT_THAT(refused.what(), HasSubstr("the server does not support it"));
}

// The server accepts only clients with a certificate that its own authority has signed.
TEST_P(mysql_tls_test, a_user_may_have_to_show_a_certificate) {
  mysql_connection{server_->url()}.run(
      "CREATE USER IF NOT EXISTS shown@'%' IDENTIFIED BY 'rowlock' REQUIRE X509; "
      "GRANT ALL PRIVILEGES ON *.* TO shown@'%'");
  const auto url = with(server_->url(), "rowlock:", "shown:") + "?ssl_ca=" + files_->known();
  EXPECT_EQ(refusal_of(url).code(), errc::authentication);
  const auto shown = url + "&ssl_cert=" + files_->client() + "&ssl_key=" + files_->client_key();
  EXPECT_NE(cipher(shown), "");
  migrator{shown}.up();
  EXPECT_TRUE(mutex(connect(shown), "shown").try_acquire());
}

// MySQL's caching_sha2_password requests the password itself if the server has not seen it since its start.
TEST_P(mysql_tls_test, a_password_that_the_server_has_not_seen_yet_is_taken_with_and_without_encryption) {
  mysql_connection side{server_->url()};
  side.run(
      "CREATE USER IF NOT EXISTS fresh@'%' IDENTIFIED BY 'rowlock'; "
      "GRANT ALL PRIVILEGES ON *.* TO fresh@'%'");
  if (GetParam() == "mysql") {
    ASSERT_EQ(side.value("SELECT plugin FROM mysql.user WHERE user = 'fresh'"), "caching_sha2_password");
  }
  const auto url = with(server_->url(), "rowlock:", "fresh:");
  for (const auto& how : {url, url + "?ssl_ca=" + files_->known()}) {
    // Empties the server's cache of passwords.
    side.run("FLUSH PRIVILEGES");
    EXPECT_NO_THROW(cipher(how)) << how;
    EXPECT_NO_THROW(cipher(how)) << "from the cache";
  }
  side.run("FLUSH PRIVILEGES");
  EXPECT_EQ(refusal_of(with(url, ":rowlock@", ":wrong@")).code(), errc::authentication);
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_tls_test);

}  // namespace

}  // namespace rowlock::test

#endif
