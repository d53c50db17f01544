#ifdef ROWLOCK_TEST_MYSQL

// What a URL's ssl_… parameters really do between SOCI, the client library and a server.
#include "certificates.hpp"
#include "own_server.hpp"
#include "store/mysql/mysql_setup.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

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
  // One server of each kind for all tests.
  void SetUp() override {
    if (!files_) files_ = std::make_unique<certificates>("127.0.0.1");
    auto& own = servers_[GetParam()];
    if (!own) {
      own = make_own_mysql(GetParam(), {"--ssl-cert=" + files_->server(), "--ssl-key=" + files_->server_key(),
                                        "--bind-address=127.0.0.1,127.0.0.2"});
    }
    server_ = own.get();
  }

  // The connection's cipher, after all checks of a new session. Empty: the connection is not encrypted.
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
  static std::map<std::string, std::unique_ptr<own_server>> servers_;
  own_server* server_ = nullptr;
};

std::unique_ptr<certificates> mysql_tls_test::files_;
std::map<std::string, std::unique_ptr<own_server>> mysql_tls_test::servers_;

TEST_P(mysql_tls_test, an_authority_that_has_signed_the_certificate_encrypts) {
  EXPECT_NE(cipher(server_->url() + "?ssl_ca=" + files_->known()), "");
  EXPECT_NE(cipher(server_->url() + "?ssl_mode=REQUIRED&ssl_ca=" + files_->known()), "");
}

// All of the client's connections: this user may have no unencrypted one.
TEST_P(mysql_tls_test, a_client_works_through_it) {
  mysql_connection{server_->url()}.run(
      "CREATE USER secret@'%' IDENTIFIED BY 'rowlock' REQUIRE SSL; GRANT ALL PRIVILEGES ON *.* TO "
      "secret@'%'");
  auto url = with(server_->url(), "rowlock:", "secret:");
  EXPECT_EQ(refusal_of(url).code(), errc::authentication);
  url += "?ssl_ca=" + files_->known();
  migrator{url}.up();
  const auto db = connect(url);
  mutex nightly{db, "nightly"};
  EXPECT_GT(nightly.acquire().token(), 0);
}

TEST_P(mysql_tls_test, an_authority_that_has_not_is_refused) {
  for (const std::string mode : {"", "&ssl_mode=REQUIRED", "&ssl_mode=PREFERRED"}) {
    const auto refused = refusal_of(server_->url() + "?ssl_ca=" + files_->other() + mode);
    EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("certificate"));
    EXPECT_THAT(refused.what(), HasSubstr("ssl_ca")) << "the message names the parameter";
  }
}

TEST_P(mysql_tls_test, an_authority_that_is_not_there_is_refused) {
  for (const std::string mode : {"", "&ssl_mode=VERIFY_IDENTITY"}) {
    const auto refused = refusal_of(server_->url() + "?ssl_ca=/nowhere/ca.pem" + mode);
    EXPECT_EQ(refused.code(), errc::invalid_argument) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("ssl_ca in the MySQL URL names /nowhere/ca.pem"));
  }
}

TEST_P(mysql_tls_test, the_address_is_verified_where_that_is_asked_for) {
  EXPECT_NE(cipher(server_->url() + "?ssl_mode=VERIFY_IDENTITY&ssl_ca=" + files_->known()), "");
  const auto elsewhere = with(server_->url(), "127.0.0.1", "127.0.0.2") + "?ssl_ca=" + files_->known();
  EXPECT_NE(cipher(elsewhere), "") << "the chain alone is right here";
  const auto refused = refusal_of(elsewhere + "&ssl_mode=VERIFY_IDENTITY");
  EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
  EXPECT_THAT(refused.what(), HasSubstr("must name the URL's host"));
}

// Without ssl_ca the authorities that the system trusts decide.
TEST_P(mysql_tls_test, a_verified_server_needs_an_authority) {
  for (const std::string& authority : {std::string{}, "&ssl_ca=" + files_->other()}) {
    const auto refused = refusal_of(server_->url() + "?ssl_mode=VERIFY_IDENTITY" + authority);
    EXPECT_EQ(refused.code(), errc::authentication) << refused.what();
  }
}

TEST_P(mysql_tls_test, a_server_without_it_is_refused_where_it_is_demanded) {
  const auto plain = make_own_mysql(GetParam(), {"--skip-ssl"});
  for (const std::string mode : {"", "&ssl_mode=REQUIRED"}) {
    const auto refused = refusal_of(plain->url() + "?ssl_ca=" + files_->known() + mode);
    EXPECT_EQ(refused.code(), errc::unreachable) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr("offers no TLS"));
  }
  EXPECT_EQ(cipher(plain->url() + "?ssl_mode=PREFERRED&ssl_ca=" + files_->known()), "");
  // A password that the server would refuse is not even sent.
  const auto refused = refusal_of(with(plain->url(), "rowlock@", "wrong@") +
                                  "?ssl_mode=VERIFY_IDENTITY&ssl_ca=" + files_->known());
  EXPECT_EQ(refused.code(), errc::unreachable) << refused.what();
  EXPECT_THAT(refused.what(), HasSubstr("the server does not support it"));
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_tls_test);

}  // namespace

}  // namespace rowlock::test

#endif
