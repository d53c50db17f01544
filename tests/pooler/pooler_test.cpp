// These tests run behind a real PgBouncer in transaction mode (scripts/with-pgbouncer).
#include "store/open.hpp"
#include "support/background.hpp"
#include "support/store_fixture.hpp"

#include <rowlock/doctor.hpp>
#include <rowlock/guard/pqxx.hpp>
#include <rowlock/migrate.hpp>
#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string url_of(const char* variable) {
  const char* url = std::getenv(variable);
  if (!url) throw std::runtime_error(std::string{variable} + " is not set; run under scripts/with-pgbouncer");
  return url;
}

class pqxx_connection {
 public:
  explicit pqxx_connection(const std::string& url) : own_{url} {}
  void run(const std::string& sql) const {
    pqxx::nontransaction work{own_};
    work.exec(sql);
  }

 private:
  mutable pqxx::connection own_;
};

class pooler_test : public testing::Test {
 protected:
  const std::string pooler = url_of("ROWLOCK_TEST_POSTGRES_URL");
  const std::string direct = url_of("ROWLOCK_TEST_POSTGRES_DIRECT_URL");
  const std::unique_ptr<store_fixture> tables = make_store_fixture("postgres");

  options with(std::string listen_url = {}) const {
    options settings;
    settings.prefix = tables->options().prefix;
    settings.listen_url = std::move(listen_url);
    return settings;
  }
  std::unique_ptr<store::database> open(const std::string& url, const std::string& listen_url = {}) const {
    auto settings = tables->options();
    settings.listen_url = listen_url;
    return store::open(url, settings);
  }
  // The time from a holder's release to the waiter's grant.
  std::chrono::milliseconds hand_over(const client& from, const client& to) const {
    auto held = mutex(from, "a").acquire();
    auto waits = in_background([&] {
      auto got = mutex(to, "a").try_acquire_for(30s);
      return std::pair{got.valid(), std::chrono::steady_clock::now()};
    });
    while (admin(from).queue("a").empty()) std::this_thread::sleep_for(1ms);
    const auto released = std::chrono::steady_clock::now();
    held.release();
    if (waits.wait_for(40s) != std::future_status::ready) throw std::runtime_error("the wait does not end");
    const auto [got, when] = waits.get();
    EXPECT_TRUE(got);
    return std::chrono::duration_cast<std::chrono::milliseconds>(when - released);
  }
};

TEST_F(pooler_test, is_noticed_or_said_in_the_url) {
  const auto behind = open(pooler);
  EXPECT_EQ(behind->connect()->backend(), "pooled");
  EXPECT_TRUE(behind->must_poll());
  const auto heard = open(pooler, direct);
  EXPECT_EQ(heard->connect()->backend(), "pooled");
  EXPECT_FALSE(heard->must_poll());
  EXPECT_EQ(open(direct + "?pooled")->connect()->backend(), "pooled");
  EXPECT_NE(open(direct)->connect()->backend(), "pooled");
  EXPECT_NE(open(direct + "?pooled=off")->connect()->backend(), "pooled");
}

TEST_F(pooler_test, says_what_pooled_may_be) {
  try {
    open(direct + "?pooled=perhaps");
    FAIL() << "the value was accepted";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), errc::invalid_argument);
    EXPECT_THAT(refused.what(), HasSubstr("neither on nor off"));
  }
}

TEST_F(pooler_test, is_found_by_the_doctor_who_works_behind_it) {
  const auto codes = [&](const options& settings) {
    std::vector<std::string> all;
    for (const auto& one : diagnose(pooler, settings)) all.push_back(one.code);
    return all;
  };
  EXPECT_THAT(codes(with()), testing::Contains("pooler"));
  EXPECT_THAT(codes(with(direct)), testing::Not(testing::Contains("pooler")));
  options elsewhere;
  elsewhere.prefix = "nothing_";
  EXPECT_THAT(diagnose(pooler, elsewhere).front().code, "not-migrated");
}

// Later users of a server session see the settings that are left in it. PostgreSQL gives "session" as the source of
// what SET TRANSACTION has set even after the transaction, so the test compares the values.
TEST_F(pooler_test, leaves_nothing_in_the_servers_sessions) {
  {
    const client db = connect(pooler, with());
    for (int i = 0; i < 20; ++i) mutex(db, "a" + std::to_string(i)).acquire().release();
    const hold held = mutex(db, "a").acquire();
    EXPECT_FALSE(mutex(db, "a").try_acquire_for(300ms));
    admin(db).collect(1h);
  }
  const std::unique_ptr<PGconn, decltype(&PQfinish)> stranger{PQconnectdb(pooler.c_str()), PQfinish};
  ASSERT_EQ(PQstatus(stranger.get()), CONNECTION_OK) << PQerrorMessage(stranger.get());
  for (int i = 0; i < 60; ++i) {  // each in another session of the server
    const std::unique_ptr<PGresult, decltype(&PQclear)> found{
        PQexec(stranger.get(),
               "SELECT (SELECT count(*) FROM pg_prepared_statements), "
               "(SELECT coalesce(string_agg(name, ' '), '') FROM pg_settings WHERE source = 'session' AND "
               "name NOT IN "
               "('application_name', 'client_encoding', 'DateStyle', 'TimeZone', "
               "'standard_conforming_strings', 'transaction_isolation', 'transaction_read_only')), "
               "current_setting('statement_timeout'), current_setting('transaction_read_only')"),
        PQclear};
    ASSERT_EQ(PQresultStatus(found.get()), PGRES_TUPLES_OK) << PQerrorMessage(stranger.get());
    EXPECT_STREQ(PQgetvalue(found.get(), 0, 0), "0");
    EXPECT_STREQ(PQgetvalue(found.get(), 0, 1), "");
    EXPECT_STREQ(PQgetvalue(found.get(), 0, 2), "0");
    EXPECT_STREQ(PQgetvalue(found.get(), 0, 3), "off");
  }
}

TEST_F(pooler_test, ends_no_ghost_for_its_backend_may_serve_a_stranger) {
  const auto session = open(pooler)->connect();
  EXPECT_FALSE(session->end_ghost(session->backend()));
}

TEST_F(pooler_test, hands_over_between_clients_that_ask) {
  const client one = connect(pooler, with());
  const client two = connect(pooler, with());
  EXPECT_LT(hand_over(one, two), 20s) << "before the holder's lease would have ended";
}

TEST_F(pooler_test, hands_over_between_clients_that_listen_past_it) {
  auto settings = with(direct);
  settings.poll_interval = 1min;
  const client one = connect(pooler, settings);
  const client two = connect(pooler, settings);
  EXPECT_LT(hand_over(one, two), 20s) << "by a wake-up: no poll is due";
}

TEST_F(pooler_test, goes_on_where_listen_url_leads_nowhere_and_says_so) {
  auto settings = with("postgresql://postgres@127.0.0.1:1/postgres");
  std::promise<std::string> warned;
  settings.log = [&, first = true](log_level level, std::string_view line) mutable {
    if (level == log_level::warning && std::exchange(first, false)) warned.set_value(std::string{line});
  };
  const client one = connect(pooler, settings);
  const client two = connect(pooler, with());
  EXPECT_LT(hand_over(two, one), 20s) << "the poll stands behind each wake-up";
  auto said = warned.get_future();
  ASSERT_EQ(said.wait_for(30s), std::future_status::ready);
  EXPECT_THAT(said.get(), HasSubstr("listen_url receives no wake-ups"));
}

TEST_F(pooler_test, says_that_listen_url_leads_to_another_database) {
  auto settings = with();
  settings.listen_url = direct.substr(0, direct.rfind('/')) + "/template1";
  std::promise<std::string> warned;
  settings.log = [&, first = true](log_level level, std::string_view line) mutable {
    if (level == log_level::warning && std::exchange(first, false)) warned.set_value(std::string{line});
  };
  const client db = connect(pooler, settings);
  EXPECT_TRUE(mutex(db, "a").try_acquire());
  auto said = warned.get_future();
  ASSERT_EQ(said.wait_for(30s), std::future_status::ready);
  EXPECT_THAT(said.get(), HasSubstr("it leads to another database"));
}

// A search path that another user of the pooler sets stays with the server's session.
TEST_F(pooler_test, finds_its_tables_whatever_path_a_stranger_has_set) {
  const pqxx_connection stranger{pooler};
  for (int i = 0; i < 60; ++i) stranger.run("SET search_path = pg_catalog");
  const client db = connect(pooler, with());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(mutex(db, "a" + std::to_string(i)).try_acquire());
  for (int i = 0; i < 60; ++i) stranger.run("RESET search_path");
}

TEST_F(pooler_test, guards_a_transaction_of_the_callers) {
  const client db = connect(pooler, with());
  const hold held = mutex(db, "a").acquire();
  pqxx::connection own{pooler};
  {
    pqxx::work work{own};
    guard(work, held);
    work.commit();
  }
  admin(db).release("a");
  pqxx::work work{own};
  EXPECT_THROW(guard(work, held), error);
}

TEST_F(pooler_test, migrates_a_schema_in_one_transaction_and_finds_it) {
  auto settings = with();
  settings.schema = "s" + settings.prefix;
  const pqxx_connection own{direct};
  own.run("CREATE SCHEMA " + settings.schema);
  {
    migrator schema{pooler, settings};
    EXPECT_FALSE(schema.up().empty());
    EXPECT_TRUE(schema.up().empty());
    EXPECT_THAT(schema.verify(), testing::IsEmpty());
    const client one = connect(pooler, settings);
    const client two = connect(pooler, settings);
    EXPECT_LT(hand_over(one, two), 20s);
  }
  own.run("DROP SCHEMA " + settings.schema + " CASCADE");
}

TEST_F(pooler_test, keeps_two_migrators_apart) {
  auto settings = with();
  settings.schema = "s" + settings.prefix;
  const pqxx_connection own{direct};
  own.run("CREATE SCHEMA " + settings.schema);
  const auto migrates = [&] { return in_background([&] { return migrator{pooler, settings}.up(); }); };
  std::vector<std::future<std::vector<migration>>> both;
  for (int i = 0; i < 2; ++i) both.push_back(migrates());
  std::vector<std::size_t> applied;
  for (auto& one : both) {
    ASSERT_EQ(one.wait_for(60s), std::future_status::ready);
    applied.push_back(one.get().size());
  }
  EXPECT_THAT(applied, testing::UnorderedElementsAre(0U, testing::Gt(0U)));
  own.run("DROP SCHEMA " + settings.schema + " CASCADE");
}

}  // namespace
}  // namespace rowlock::test
