// Guarded transactions through SOCI.
#ifdef ROWLOCK_TEST_SOCI

#include "client/client_test.hpp"

#include <rowlock/guard/soci.hpp>

#ifdef ROWLOCK_TEST_POSTGRES
#include <libpq-fe.h>
#endif

namespace rowlock::test {
namespace {

#ifdef ROWLOCK_TEST_POSTGRES
// The connection in libpq's keywords: SOCI 4.0 does not read libpq's URLs.
std::string libpq_words(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed{
      PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree};
  std::string words;
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) words += std::string{option->keyword} + '=' + option->val + ' ';
  }
  return words;
}
#endif

// The parts of mysql://user:password@host:port/database, in SOCI's words.
std::string soci_words(const std::string& url) {
#ifdef ROWLOCK_TEST_POSTGRES
  if (!url.starts_with("mysql:")) return libpq_words(url);
#endif
  std::string words;
  std::size_t at = url.find("://") + 3;
  for (const auto& [word, end] : {std::pair{"user", ':'}, {"password", '@'}, {"host", ':'}, {"port", '/'}}) {
    const auto next = url.find(end, at);
    words += std::string{word} + "='" + url.substr(at, next - at) + "' ";
    at = next + 1;
  }
  return words + "db='" + url.substr(at) + "'";
}

class soci_guard_test : public client_test {
 protected:
  std::unique_ptr<soci::session> connect_soci() {
    const auto dialect = dialect_of(GetParam());
    return std::make_unique<soci::session>(dialect == "postgres" ? "postgresql" : dialect,
                                           soci_words(fixture().url()));
  }

  std::unique_ptr<soci::session> app = connect_soci();
  client db = new_client();
};

TEST_P(soci_guard_test, proves_a_hold_and_keeps_everybody_out) {
  hold held = mutex(db, "it's :name \\ ?").acquire();
  {
    soci::transaction tx{*app};
    EXPECT_NO_THROW(guard(*app, held));
    EXPECT_EQ(held.release(), release_result::pending);
    EXPECT_FALSE(mutex(db, held.name()).try_acquire());
    tx.commit();
  }
  EXPECT_GT(mutex(db, held.name()).acquire().token(), held.token());
}

TEST_P(soci_guard_test, refuses_a_hold_that_was_lost) {
  const client slow = new_client(slow_to_renew());
  const hold lost = mutex(slow, "a").acquire();
  ASSERT_TRUE(admin{db}.release("a"));
  soci::transaction tx{*app};
  EXPECT_EQ(code_of([&] { guard(*app, lost); }), errc::hold_lost);
}

TEST_P(soci_guard_test, refuses_a_snapshot_of_before_the_acquire) {
  const bool mysql = has_mysql_dialect(GetParam());
  *app << (mysql ? "START TRANSACTION WITH CONSISTENT SNAPSHOT" : "BEGIN ISOLATION LEVEL REPEATABLE READ");
  int one = 0;
  *app << "SELECT 1", soci::into(one);
  const hold held = mutex(db, "a").acquire();
  // The guard throws PostgreSQL's own error, or finds no row: either way the transaction cannot go on.
  EXPECT_ANY_THROW(guard(*app, held));
  *app << "ROLLBACK";
}

TEST_P(soci_guard_test, outside_of_a_transaction_is_refused) {
  const hold held = mutex(db, "a").acquire();
  EXPECT_EQ(code_of([&] { guard(*app, held); }), errc::invalid_argument);
  soci::transaction tx{*app};
  EXPECT_NO_THROW(guard(*app, held));
}

TEST_P(soci_guard_test, reads_the_name_whatever_the_connections_character_set) {
  const hold held = mutex(db, "na\u00EFve \U0001F600").acquire();
  for (const std::string set : {"latin1", "utf8mb4"}) {
    *app << (has_mysql_dialect(GetParam())
                 ? "SET NAMES " + set
                 : "SET client_encoding = '" + (set == "latin1" ? set : "utf8") + "'");
    soci::transaction tx{*app};
    EXPECT_NO_THROW(guard(*app, held)) << set;
  }
}

TEST_P(soci_guard_test, in_an_xa_transaction_is_refused) {
  if (!has_mysql_dialect(GetParam()))
    GTEST_SKIP() << "PREPARE TRANSACTION keeps the locks of its transaction there";
  const hold held = mutex(db, "a").acquire();
  *app << "XA START 'x'";
  EXPECT_EQ(code_of([&] { guard(*app, held); }), errc::invalid_argument);
  *app << "XA END 'x'";
  *app << "XA ROLLBACK 'x'";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(soci_guard_test);
INSTANTIATE_TEST_SUITE_P(stores, soci_guard_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);

}  // namespace
}  // namespace rowlock::test

#endif
