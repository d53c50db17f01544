// Settings that connect() pins, servers that it refuses, and its messages.
#include "store/postgres_test.hpp"
#include "support/background.hpp"
#include "support/loopback.hpp"
#include "support/shortest_time.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <stdexcept>
#include <utility>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class postgres_connect_test : public postgres_test {
 protected:
  void TearDown() override {
    if (!role_.empty()) side_->run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
    postgres_test::TearDown();
  }
  // The URL of a new role that has no rights yet.
  std::string url_of_new_role(const std::string& settings = "") {
    role_ = options_.schema + "_role";
    side_->run("CREATE ROLE " + role_ + " LOGIN PASSWORD 'hunter2'");
    if (!settings.empty()) side_->run("ALTER ROLE " + role_ + " SET " + settings);
    const auto user = url_.find("//") + 2;
    return url_.substr(0, user) + role_ + ":hunter2" + url_.substr(url_.find('@', user));
  }
  void grant_all() {
    side_->run("GRANT USAGE ON SCHEMA " + options_.schema + " TO " + role_);
    side_->run("GRANT ALL ON ALL TABLES IN SCHEMA " + options_.schema + " TO " + role_);
  }
  error refusal(const std::string& url) {
    try {
      store::open_postgres(url, options_)->connect();
    } catch (const error& thrown) {
      EXPECT_THAT(thrown.what(), Not(HasSubstr("hunter2")));
      return thrown;
    }
    ADD_FAILURE() << "connected";
    return error(errc::internal, "connected");
  }
  std::string setting_of(const store::session& session, const std::string& column) {
    return side_->value("SELECT " + column + " FROM pg_stat_activity WHERE pid = $1",
                        {std::to_string(pid_of(session))});
  }

  std::string role_;
};

TEST_F(postgres_connect_test, names_the_application) {
  EXPECT_EQ(setting_of(*connect(), "application_name"), "rowlock test");
}

TEST_F(postgres_connect_test, works_for_a_role_without_privileges_but_those_on_the_tables) {
  const auto url = url_of_new_role();
  grant_all();
  const auto session = store::open_postgres(url, options_)->connect();
  session->record_database_state();
  const auto hold = held(*session, "a");
  EXPECT_TRUE(release(*session, hold));
  EXPECT_EQ(session->list().size(), 1U);
  // The role may end its own backends.
  const auto ghost = store::open_postgres(url, options_)->connect();
  EXPECT_TRUE(ends_ghost(*session, ghost->backend()));
}

TEST_F(postgres_connect_test, raises_a_weak_synchronous_commit_and_keeps_a_strong_one) {
  const auto url = url_of_new_role();
  grant_all();
  side_->run(
      "CREATE FUNCTION commit_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "NEW.application = current_setting('synchronous_commit'); RETURN NEW; END $$; "
      "CREATE TRIGGER tell BEFORE INSERT ON rowlock_lease FOR EACH ROW EXECUTE FUNCTION commit_setting()");
  for (const auto& [given, pinned] : {std::pair<std::string, std::string>{"off", "on"},
                                      {"local", "on"},
                                      {"remote_write", "on"},
                                      {"on", "on"},
                                      {"remote_apply", "remote_apply"}}) {
    side_->run("ALTER ROLE " + role_ + " SET synchronous_commit = " + given);
    const auto session = store::open_postgres(url, options_)->connect();
    const auto lease = new_lease(*session);
    EXPECT_EQ(side_->value("SELECT application FROM rowlock_lease WHERE id = $1", {lease.to_string()}),
              pinned)
        << given;
  }
}

TEST_F(postgres_connect_test, pins_what_a_role_may_have_set_otherwise) {
  const auto url = url_of_new_role("default_transaction_isolation = 'serializable'");
  grant_all();
  const auto session = store::open_postgres(url, options_)->connect();
  session->record_database_state();
  const auto hold = held(*session, "a");
  auto other = raw();
  other->run("BEGIN; SELECT FROM rowlock_lock FOR UPDATE");
  EXPECT_FALSE(look(*session, "a"));
  other->run("UPDATE rowlock_lock SET token = token + 1; COMMIT");
  EXPECT_TRUE(look(*session, "a")) << "a serializable transaction would be refused here";
  EXPECT_TRUE(release(*session, hold));
}

// Connects with a role whose statement_timeout may cancel the first statement, before that has lifted the limit.
std::unique_ptr<store::session> connect_in_spite_of_limits(const std::string& url,
                                                           const store::store_options& options) {
  for (int tries = 1;; ++tries) {
    try {
      return store::open_postgres(url, options)->connect();
    } catch (const error& failure) {
      if (failure.database_code() != "57014" || tries == 20) throw;
    }
  }
}

TEST_F(postgres_connect_test, is_not_stopped_by_limits_that_a_role_has) {
  const auto url = url_of_new_role("statement_timeout = '1ms'");
  side_->run("ALTER ROLE " + role_ + " SET lock_timeout = '1ms'");
  side_->run("ALTER ROLE " + role_ + " SET array_nulls = off");
  grant_all();
  for (int i = 0; i < 5; ++i) {
    const auto session = connect_in_spite_of_limits(url, options_);
    session->record_database_state();
    const auto hold = held(*session, "a" + std::to_string(i));
    EXPECT_TRUE(release(*session, hold));
  }
}

// Accepts connections and answers nothing, like a pooler without a free server connection.
class silent_server {
 public:
  silent_server() : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    auto address = loopback();
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port to listen on");
    }
    port_ = ntohs(address.sin_port);
  }
  ~silent_server() { ::close(listener_); }
  silent_server(const silent_server&) = delete;
  silent_server& operator=(const silent_server&) = delete;
  std::string port() const { return std::to_string(port_); }
  // How many clients have connected since the last call.
  int count_callers() const {
    pollfd source{listener_, POLLIN, 0};
    int callers = 0;
    for (; ::poll(&source, 1, 0) == 1; ++callers)
      ::close(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    return callers;
  }
  // Refuses the next login, as a server does.
  void refuse(const std::string& state, const std::string& words) const {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    char login[1'000];
    std::string fields;
    if (::recv(client, login, sizeof login, 0) > 0) {
      for (const auto& field : {"SFATAL", "VFATAL"}) fields += field + std::string{'\0'};
      for (const auto& field : {"C" + state, "M" + words}) fields += field + '\0';
      for (const auto& field : {"Fpostinit.c", "L12", "RInitPostgres"}) fields += field + std::string{'\0'};
      fields += '\0';
      const auto size = htonl(static_cast<std::uint32_t>(fields.size() + sizeof(std::uint32_t)));
      const auto sent = 'E' + std::string(reinterpret_cast<const char*>(&size), sizeof size) + fields;
      if (::send(client, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) ADD_FAILURE() << "not sent";
    }
    ::close(client);
  }

 private:
  int listener_;
  int port_ = 0;
};

TEST_F(postgres_connect_test, gives_up_a_server_that_answers_nothing_when_its_time_is_up) {
  const silent_server server;
  options_.connect_timeout = 300ms;
  const auto took = shortest_time(1900ms, [&] {
    const auto thrown = refusal("postgresql://u:hunter2@127.0.0.1:" + server.port() + "/x");
    EXPECT_EQ(thrown.code(), errc::unreachable) << thrown.what();
  });
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 1900ms) << "libpq's own limit is two seconds at the least";
}

TEST_F(postgres_connect_test, leaves_a_server_that_answers_nothing_for_the_next_one) {
  const silent_server server;
  options_.connect_timeout = 2s;
  const auto user = url_.find("//") + 2;
  const auto host = url_.find('@', user) + 1;
  const auto url = url_.substr(0, host) + "127.0.0.1:" + server.port() + "," + url_.substr(host);
  const auto database = store::open_postgres(url, options_);
  EXPECT_NO_THROW(database->connect());
  EXPECT_EQ(server.count_callers(), 1);
  EXPECT_NO_THROW(database->connect());
  EXPECT_EQ(server.count_callers(), 0) << "the next connection begins with the server that has answered";
}

TEST_F(postgres_connect_test, is_broken_off_by_another_thread) {
  const silent_server server;
  options_.connect_timeout = 60s;
  store::connect_watch watch;
  auto refused = in_background([&] {
    try {
      store::open_postgres("postgresql://u@127.0.0.1:" + server.port() + "/x", options_)->connect(watch);
      return errc::internal;
    } catch (const error& thrown) {
      return thrown.kind();
    }
  });
  EXPECT_EQ(refused.wait_for(20ms), std::future_status::timeout);
  watch.interrupt();
  ASSERT_EQ(refused.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(refused.get(), errc::unreachable);
}

TEST_F(postgres_connect_test, is_broken_off_behind_the_login_too) {
  // The transaction locks the table that connect() reads first.
  auto other = raw();
  other->run("BEGIN; LOCK TABLE rowlock_meta IN ACCESS EXCLUSIVE MODE");
  options_.statement_timeout = 60s;
  store::connect_watch watch;
  auto refused = in_background([&] {
    try {
      store::open_postgres(url_, options_)->connect(watch);
      return errc::internal;
    } catch (const error& thrown) {
      return thrown.kind();
    }
  });
  until_blocked(*side_, std::stoi([&] {
    for (;;) {
      const auto found = side_->run(
          "SELECT pid FROM pg_stat_activity "
          "WHERE application_name = 'rowlock test' AND wait_event_type = 'Lock'");
      if (!found.empty()) return found[0][0];
    }
  }()));
  watch.interrupt();
  ASSERT_EQ(refused.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(refused.get(), errc::unreachable);
  other->run("ROLLBACK");
}

TEST_F(postgres_connect_test, refuses_a_role_that_is_not_known) {
  const auto user = url_.find("//") + 2;
  const auto thrown =
      refusal(url_.substr(0, user) + "nobody_here:hunter2" + url_.substr(url_.find('@', user)));
  EXPECT_EQ(thrown.code(), errc::authentication) << thrown.what();
}

// The server's message is in the language of lc_messages.
TEST_F(postgres_connect_test, judges_a_refused_login_by_its_sqlstate) {
  for (const auto& [state, code] : {std::pair<std::string, errc>{"28P01", errc::authentication},
                                    {"28000", errc::authentication},
                                    {"42501", errc::privilege},
                                    {"3D000", errc::not_migrated},
                                    {"53300", errc::unreachable}}) {
    const silent_server server;
    auto refusing = in_background([&, state = state] { server.refuse(state, "nichts zu wollen"); });
    const auto thrown = refusal("postgresql://u:hunter2@127.0.0.1:" + server.port() +
                                "/x?sslmode=disable&gssencmode=disable");
    refusing.get();
    EXPECT_EQ(thrown.code(), code) << thrown.what();
    EXPECT_EQ(thrown.database_code(), state);
    EXPECT_THAT(thrown.what(), HasSubstr("FATAL:  nichts zu wollen (SQLSTATE " + state + ")"));
    EXPECT_THAT(thrown.what(), Not(HasSubstr("postinit.c")));
  }
}

TEST_F(postgres_connect_test, refuses_a_role_that_may_not_use_the_tables) {
  const auto url = url_of_new_role();
  side_->run("GRANT USAGE ON SCHEMA " + options_.schema + " TO " + role_);
  const auto thrown = refusal(url);
  EXPECT_EQ(thrown.code(), errc::privilege) << thrown.what();
  EXPECT_EQ(thrown.database_code(), "42501");
}

TEST_F(postgres_connect_test, says_that_a_role_may_not_look_into_the_schema) {
  const auto url = url_of_new_role();
  side_->run("GRANT ALL ON ALL TABLES IN SCHEMA " + options_.schema + " TO " + role_);
  const auto grant = "GRANT USAGE ON SCHEMA " + options_.schema + " TO " + role_;
  const auto named = refusal(url);
  EXPECT_EQ(named.code(), errc::privilege);
  EXPECT_THAT(named.what(), HasSubstr(grant));
  side_->run("ALTER ROLE " + role_ + " SET search_path = " + options_.schema);
  const auto schema = std::exchange(options_.schema, "");
  const auto found = refusal(url);
  options_.schema = schema;
  EXPECT_EQ(found.code(), errc::privilege);
  EXPECT_THAT(found.what(), HasSubstr(grant));
}

// As tenant_10 contains tenant_1.
TEST_F(postgres_connect_test, does_not_ask_for_a_schema_whose_name_is_part_of_the_roles_own) {
  const auto url = url_of_new_role("search_path = " + options_.schema + "0");
  const auto schema = std::exchange(options_.schema, "");
  const auto found = refusal(url);
  options_.schema = schema;
  EXPECT_EQ(found.code(), errc::not_migrated) << found.what();
}

TEST_F(postgres_connect_test, refuses_a_read_only_role) {
  const auto url = url_of_new_role("default_transaction_read_only = on");
  grant_all();
  EXPECT_EQ(refusal(url).code(), errc::read_only);
}

// The test needs no such server: a function of the same name reports an old version to the connecting session.
TEST_F(postgres_connect_test, refuses_a_server_that_is_too_old) {
  const auto url = url_of_new_role("search_path = " + options_.schema + ", pg_catalog");
  grant_all();
  side_->run("CREATE FUNCTION " + options_.schema +
             ".current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT CASE $1 "
             "WHEN 'server_version_num' THEN '110022' ELSE pg_catalog.current_setting($1) END $$");
  // With a schema in the options, the server's functions would be found first and ours would not be called.
  const auto schema = std::exchange(options_.schema, "");
  const auto thrown = refusal(url);
  options_.schema = schema;
  EXPECT_EQ(thrown.code(), errc::database);
  EXPECT_THAT(thrown.what(), HasSubstr("PostgreSQL 11 is too old for rowlock, which needs 12 or later"));
}

TEST_F(postgres_connect_test, refuses_what_cannot_be_reached) {
  for (const std::string url : {"postgresql://u:hunter2@127.0.0.1:1/x", "postgresql:///x?host=/nowhere"}) {
    const auto thrown = refusal(url);
    EXPECT_EQ(thrown.code(), errc::unreachable) << thrown.what();
    EXPECT_FALSE(thrown.outcome_unknown());
    EXPECT_TRUE(thrown.transient());
  }
}

TEST_F(postgres_connect_test, refuses_a_url_that_cannot_be_right_and_repeats_no_part_of_it) {
  for (const std::string url : {"postgresql://u:hunter2@h:port/x", "postgresql://u:p@hunter2@h/x",
                                "postgresql://u@h/x?passwort=hunter2", "postgresql://u:%zzhunter2@h/x"}) {
    const auto thrown = refusal(url);
    EXPECT_THAT(thrown.code(), testing::AnyOf(errc::invalid_argument, errc::unreachable)) << thrown.what();
  }
}

TEST_F(postgres_connect_test, says_how_to_make_the_tables) {
  options_.prefix = "missing_";
  const auto thrown = refusal(url_);
  EXPECT_EQ(thrown.code(), errc::not_migrated);
  EXPECT_THAT(thrown.what(),
              HasSubstr("rowlock --prefix missing_ --schema " + options_.schema + " migrate up"));
  EXPECT_THAT(thrown.what(), HasSubstr("missing_*"));
}

TEST_F(postgres_connect_test, says_how_to_make_the_schema) {
  auto options = options_;
  options.schema = "missing";
  for (const auto& open :
       {std::function<void()>{[&] { store::open_postgres(url_, options)->connect(); }},
        std::function<void()>{[&] { store::open_postgres_for_migration(url_, options); }}}) {
    try {
      open();
      ADD_FAILURE() << "connected";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.code(), errc::not_migrated);
      EXPECT_THAT(thrown.what(), HasSubstr("CREATE SCHEMA missing"));
    }
  }
}

TEST_F(postgres_connect_test, refuses_an_old_schema_and_one_that_forbids_it) {
  side_->run("UPDATE rowlock_meta SET schema_version = 0");
  EXPECT_EQ(refusal(url_).code(), errc::not_migrated);
  side_->run("UPDATE rowlock_meta SET schema_version = 9, min_library = 1");
  EXPECT_NO_THROW(connect()) << "a newer schema that allows this library";
  side_->run("UPDATE rowlock_meta SET min_library = 9");
  EXPECT_EQ(refusal(url_).code(), errc::too_new);
}

TEST_F(postgres_connect_test, tells_a_missing_table_by_its_error) {
  const auto session = ready();
  side_->run("DROP TABLE rowlock_lock");
  try {
    session->list();
    ADD_FAILURE();
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.code(), errc::not_migrated);
    EXPECT_EQ(thrown.database_code(), "42P01");
  }
  EXPECT_NO_THROW(session->read_database_state()) << "the session goes on";
}

TEST_F(postgres_connect_test, tells_a_lock_timeout_as_contention) {
  ready();
  options_.statement_timeout = 1s;
  const auto other = raw();
  // If the machine pauses, the client may give up before the server answers, which ends the session.
  for (int tries = 1;; ++tries) {
    const auto session = connect();
    other->run("BEGIN; LOCK TABLE rowlock_lock IN ACCESS EXCLUSIVE MODE");
    try {
      const auto refused = [&]() -> std::optional<error> {
        try {
          session->list();
          return {};
        } catch (const error& thrown) {
          return thrown;
        }
      }();
      EXPECT_THROW(look(*session, "a"), error);
      other->run("ROLLBACK");
      EXPECT_TRUE(session->list().empty()) << "and nothing was left open";
      ASSERT_TRUE(refused);
      EXPECT_EQ(refused->code(), errc::contention) << refused->what();
      EXPECT_FALSE(refused->outcome_unknown());
      return;
    } catch (const error& thrown) {
      ASSERT_TRUE(thrown.code() == errc::unreachable && tries < 5) << thrown.what();
      other->run("ROLLBACK");
    }
  }
}

}  // namespace
}  // namespace rowlock::test
