// A function that returns the URL for each connect, for credentials that rotate.
#include "client/client_test.hpp"
#include "client/raw_sql.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace rowlock::test {
namespace {

// A user of the database server with all privileges that rowlock needs.
class rotating_user {
 public:
  rotating_user(const store_fixture& fixture, std::string name)
      : server_{open_raw_sql(fixture)}, name_{std::move(name)}, url_{fixture.url()} {
    if (is_postgres()) {
      server_->run("CREATE ROLE " + name_ + " LOGIN; GRANT " + server_->value("SELECT current_user") +
                   " TO " + name_);
      number_ = server_->value("SELECT oid FROM pg_roles WHERE rolname = '" + name_ + "'");
    } else {
      server_->run("CREATE USER " + name_ + " IDENTIFIED BY 'secret'; GRANT ALL ON *.* TO " + name_);
    }
    const auto start = url_.find("//") + 2;
    url_.replace(start, url_.find('@') - start, is_postgres() ? name_ : name_ + ":secret");
  }
  ~rotating_user() {
    if (there_) drop();
  }
  rotating_user(const rotating_user&) = delete;
  rotating_user& operator=(const rotating_user&) = delete;

  const std::string& url() const { return url_; }
  int connections() {
    return std::stoi(server_->value(
        is_postgres() ? "SELECT count(*) FROM pg_stat_activity WHERE usename = '" + name_ + "'"
                      : "SELECT count(*) FROM information_schema.processlist WHERE user = '" + name_ + "'"));
  }
  // Drops the user, so that nobody can connect as it any more, and ends its connections.
  void drop() {
    there_ = false;
    server_->run((is_postgres() ? "DROP ROLE " : "DROP USER ") + name_);
    if (is_postgres()) {
      server_->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid = " + number_);
      return;
    }
    const auto next = "SELECT id FROM information_schema.processlist WHERE user = '" + name_ + "'";
    for (auto id = server_->value(next); !id.empty(); id = server_->value(next)) {
      try {
        server_->run("KILL " + id);
      } catch (const std::exception&) {
        // The connection has just ended.
      }
    }
  }

 private:
  bool is_postgres() const { return url_.starts_with("postgres"); }

  std::unique_ptr<raw_sql> server_;
  std::string name_;
  std::string number_;
  std::string url_;
  bool there_ = true;
};

class url_source_test : public client_test {};

TEST_P(url_source_test, is_asked_again_at_each_reconnect) {
  const auto unique = "u" + model::id128::random().to_string().substr(0, 12);
  rotating_user before{fixture(), unique + "a"};
  rotating_user after{fixture(), unique + "b"};
  std::mutex url_mutex;
  std::string url = before.url();
  std::atomic<int> failures{0};
  auto settings = quick_to_renew();
  settings.prefix = fixture().options().prefix;
  client db = connect(
      [&] {
        const std::lock_guard lock{url_mutex};
        if (url.empty() && failures++ < 2) throw std::runtime_error("the vault is sealed");
        return url.empty() ? after.url() : url;
      },
      settings);
  const hold held = mutex(db, "a").acquire();
  EXPECT_GT(before.connections(), 0);
  EXPECT_EQ(after.connections(), 0);
  {
    const std::lock_guard lock{url_mutex};
    url.clear();
  }
  before.drop();
  const auto next = mutex(db, "b").try_acquire_for(20s);
  EXPECT_TRUE(next);
  EXPECT_GT(after.connections(), 0);
  EXPECT_GE(failures.load(), 2) << "an exception counts as an outage";
  EXPECT_TRUE(held);
  db.close();
}

TEST(empty_url_source_test, is_refused) {
  EXPECT_EQ(code_of([] { std::ignore = connect(std::function<std::string()>{}); }), errc::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(stores, url_source_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(url_source_test);

}  // namespace
}  // namespace rowlock::test
