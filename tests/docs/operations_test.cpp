// The rights that docs/operations.md gives to roles are those of `rowlock migrate grants`. They are enough for the
// purposes that the page names, and for no others.
#include "cli/command_process.hpp"
#include "docs/page_blocks.hpp"
#include "model/ids.hpp"
#include "support/background.hpp"
#include "support/stores.hpp"
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"

#include <rowlock/guard/mysql.hpp>
#endif
#ifdef ROWLOCK_TEST_POSTGRES
#include <rowlock/guard/pqxx.hpp>
#endif

#include <rowlock/rowlock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <memory>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The statements below the paragraph that begins with `heading`.
std::string block_below(const std::string& heading) {
  for (const auto& block : blocks_of("docs/operations.md")) {
    if (block.language == "sql" && block.lead.starts_with(heading)) return block.text();
  }
  throw std::runtime_error("docs/operations.md has no block below: " + heading);
}

std::optional<errc> code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.kind();
  }
  return {};
}

// A schema with rowlock's tables in it, and the page's roles.
class database_of_roles {
 public:
  virtual ~database_of_roles() = default;
  virtual std::string heading() const = 0;
  virtual std::string url(const std::string& role) const = 0;
  virtual std::string schema() const = 0;  // options::schema
  virtual void run(const std::string& sql) = 0;
  // Guards the holds in one transaction of that role.
  virtual void guard_both(const std::string& role, const hold& one, const hold& other) = 0;

  client connect_as(const std::string& role) const {
    options settings;
    settings.schema = schema();
    settings.close_timeout = 20s;  // the machine may pause
    return connect(url(role), settings);
  }
  virtual std::string dialect() const = 0;
  const std::string& name() const { return name_; }  // of the schema or database
  // Runs the statements that `rowlock migrate grants` prints.
  void grant(const std::string& role, const std::string& use) {
    run(printed({"--schema", name_, "--role", of(role), "--as", use}));
  }
  std::string printed(std::vector<std::string> words) const {
    words.insert(words.begin(), {ROWLOCK_COMMAND_PATH, "migrate", "grants", "--dialect", dialect()});
    const auto result = command_process(words, {}).wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  command_result rowlock_as(const std::string& role, std::vector<std::string> words) const {
    words.insert(words.begin(), ROWLOCK_COMMAND_PATH);
    return command_process(words, {{"ROWLOCK_URL", url(role)}, {"ROWLOCK_SCHEMA", schema()}}).wait();
  }

 protected:
  static constexpr const char* roles[] = {"app", "watcher", "operator", "migrator", "writer"};

  std::string of(const std::string& role) const { return role + '_' + name_; }

  const std::string name_ = "t" + model::id128::random().to_string().substr(0, 12);
};

#ifdef ROWLOCK_TEST_POSTGRES

class postgres_roles final : public database_of_roles {
 public:
  postgres_roles() : owner_{server()} {
    std::string sql = "CREATE SCHEMA " + name_ + ";";
    for (const auto* role : roles) sql += "CREATE ROLE " + of(role) + " LOGIN;";
    run(sql);
    options settings;
    settings.schema = name_;
    migrator{server(), settings}.up();
  }
  ~postgres_roles() override {
    try {
      std::string sql = "DROP SCHEMA " + name_ + " CASCADE;";
      for (const auto* role : roles) {
        sql += "DROP OWNED BY " + of(role) + "; DROP ROLE " + of(role) + ";";
      }
      run(sql);
    } catch (const std::exception&) {
      // The role may remain: the server is removed after the tests.
    }
  }
  std::string heading() const override { return "PostgreSQL"; }
  std::string dialect() const override { return "postgres"; }
  std::string url(const std::string& role) const override {
    auto whole = server();
    const auto user = whole.find("//") + 2;
    return whole.replace(user, whole.find('@', user) - user, of(role));
  }
  std::string schema() const override { return name_; }
  void run(const std::string& sql) override {
    pqxx::nontransaction work{owner_};
    work.exec(sql);
  }
  void guard_both(const std::string& role, const hold& one, const hold& other) override {
    pqxx::connection connection{url(role)};
    pqxx::work work{connection};
    guard(work, one);
    guard(work, other);
    work.commit();
  }

 private:
  static std::string server() { return std::getenv("ROWLOCK_TEST_POSTGRES_URL"); }

  pqxx::connection owner_;
};

#endif

#ifdef ROWLOCK_TEST_MYSQL

class mysql_roles final : public database_of_roles {
 public:
  explicit mysql_roles(const std::string& store) : server_{mysql_server_url(store)} {
    std::string sql = "CREATE DATABASE " + name_ + ";";
    for (const auto* role : roles) {
      sql += "CREATE USER " + of(role) + " IDENTIFIED BY 'right';";
    }
    run(sql);
    migrator{with_database(server_, name_), {}}.up();
  }
  ~mysql_roles() override {
    try {
      std::string sql = "DROP DATABASE " + name_;
      for (const auto* role : roles) sql += "; DROP USER " + of(role);
      run(sql);
    } catch (const std::exception&) {
      // The role may remain: the server is removed after the tests.
    }
  }
  std::string heading() const override { return "MariaDB and MySQL"; }
  std::string dialect() const override { return "mysql"; }
  std::string url(const std::string& role) const override {
    const auto whole = with_database(server_, name_);
    return "mysql://" + of(role) + ":right" + whole.substr(whole.find('@'));
  }
  std::string schema() const override { return ""; }
  void run(const std::string& sql) override { owner_.run(sql); }
  void guard_both(const std::string& role, const hold& one, const hold& other) override {
    mysql_connection connection{url(role)};
    connection.run("START TRANSACTION");
    guard(connection.handle(), one);
    guard(connection.handle(), other);
    connection.run("COMMIT");
  }

 private:
  const std::string server_;
  mysql_connection owner_{server_};
};

#endif

class operations_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (selected_of({GetParam()}).empty()) GTEST_SKIP() << GetParam() << " is not selected";
#ifdef ROWLOCK_TEST_POSTGRES
    if (GetParam() == "postgres") database = std::make_unique<postgres_roles>();
#endif
#ifdef ROWLOCK_TEST_MYSQL
    if (has_mysql_dialect(GetParam())) database = std::make_unique<mysql_roles>(GetParam());
#endif
  }

  std::unique_ptr<database_of_roles> database;
};

TEST_P(operations_test, an_app_uses_all_locks) {
  database->grant("app", "run");
  const client db = database->connect_as("app");
  const client other = database->connect_as("app");
  hold held = mutex(db, "a").acquire();
  auto next = in_background([&] { return mutex(other, "a").try_acquire_for(60s); });
  admin operate{db};
  while (operate.queue("a").empty() && next.wait_for(1ms) == std::future_status::timeout) {
  }
  EXPECT_EQ(held.release(), release_result::released);
  const auto token = held.token();
  const auto handed = next.get();
  ASSERT_TRUE(handed);
  EXPECT_GT(handed.token(), token);
  const hold reads = shared_mutex(db, "b").acquire_shared();
  EXPECT_FALSE(shared_mutex(other, "b").try_acquire());
  const hold permit = counting_semaphore(db, "c", 2).acquire();
  EXPECT_TRUE(operate.release("a"));
  operate.sweep();
  operate.collect(24h);
  EXPECT_GT(operate.raise_epoch(), 0);
}

TEST_P(operations_test, a_watcher_looks_and_changes_nothing) {
  database->grant("app", "run");
  database->grant("watcher", "observe");
  const client db = database->connect_as("app");
  const hold held = mutex(db, "a").acquire();
  const client looks = database->connect_as("watcher");
  admin watch{looks};
  EXPECT_EQ(watch.list().size(), 1U);
  EXPECT_EQ(watch.show("a").value().holders.size(), 1U);
  EXPECT_TRUE(watch.queue("a").empty());
  EXPECT_EQ(code_of([&] { std::ignore = mutex(looks, "b").try_acquire(); }), errc::privilege);
  EXPECT_EQ(code_of([&] { watch.release("a"); }), errc::privilege);
  EXPECT_TRUE(held);
}

TEST_P(operations_test, a_writer_guards_with_the_hold_of_an_app) {
  database->grant("app", "run");
  database->grant("writer", "write");
  const client db = database->connect_as("app");
  const hold held = mutex(db, "a").acquire();
  const hold reads = shared_mutex(db, "b").acquire_shared();
  EXPECT_NO_THROW(database->guard_both("writer", held, reads));
  EXPECT_EQ(code_of([&] { std::ignore = mutex(database->connect_as("writer"), "c").try_acquire(); }),
            errc::privilege);
}

TEST_P(operations_test, the_page_says_what_the_command_prints) {
  const std::map<std::string, std::string> uses{{"app", "run"},
                                                {"watcher", "observe"},
                                                {"operator", "operate"},
                                                {"migrator", "migrate"},
                                                {"writer", "write"}};
  for (const auto& [role, use] : uses) {
    auto printed = database->printed({"--schema", "locks", "--role", role, "--as", use});
    for (const auto* quote : {"\"", "`"}) printed = replaced(printed, quote, "");
    EXPECT_EQ(block_below(database->heading() + ", `" + use + "`"), printed) << role;
  }
}

TEST_P(operations_test, each_role_runs_its_commands) {
  database->grant("app", "run");
  database->grant("watcher", "observe");
  database->grant("operator", "operate");
  database->grant("migrator", "migrate");
  EXPECT_EQ(database->rowlock_as("app", {"run", "a", "--", "true"}).exit_code, 0);
  EXPECT_EQ(database->rowlock_as("watcher", {"run", "a", "--", "true"}).exit_code, 77);
  for (const auto* role : {"app", "watcher", "operator"}) {
    EXPECT_EQ(database->rowlock_as(role, {"list"}).exit_code, 0) << role;
    EXPECT_EQ(database->rowlock_as(role, {"migrate", "verify"}).exit_code, 0) << role;
    EXPECT_EQ(database->rowlock_as(role, {"migrate", "status"}).exit_code, 0) << role;
    const auto found = database->rowlock_as(role, {"doctor", "--json"});
    const bool sees_all = role == std::string{"operator"};
    EXPECT_EQ(found.out.find("\"unknown\"") == std::string::npos, sees_all) << role << found.out << found.err;
    EXPECT_EQ(found.out.find("\"looks-only\"") != std::string::npos, role == std::string{"watcher"}) << role;
  }
  EXPECT_EQ(database->rowlock_as("operator", {"sweep"}).exit_code, 0);
  EXPECT_EQ(database->rowlock_as("operator", {"epoch", "raise"}).exit_code, 0);
  EXPECT_EQ(database->rowlock_as("app", {"--prefix", "own_", "migrate", "up"}).exit_code, 77);
  for (const auto* step : {"up", "verify", "down"}) {
    const auto done = database->rowlock_as("migrator", {"--prefix", "own_", "migrate", step});
    EXPECT_EQ(done.exit_code, 0) << step << done.err;
  }
}

// The server reads the name exactly as it was given.
TEST_P(operations_test, a_role_may_have_any_name) {
  const std::string name = "o'b\"r`ie\\n; x_" + model::id128::random().to_string().substr(0, 8);
  const char quote = has_mysql_dialect(GetParam()) ? '`' : '"';
  const auto quoted = quote + replaced(name, std::string{quote}, std::string(2, quote)) + quote;
  database->run("CREATE ROLE " + quoted);
  EXPECT_NO_THROW(
      database->run(database->printed({"--schema", database->name(), "--role", name, "--as", "observe"})));
  database->run((has_mysql_dialect(GetParam()) ? "" : "DROP OWNED BY " + quoted + "; ") + "DROP ROLE " +
                quoted);
}

INSTANTIATE_TEST_SUITE_P(databases, operations_test, testing::Values("postgres", "mariadb", "mysql"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace rowlock::test
