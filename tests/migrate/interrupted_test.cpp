#ifdef ROWLOCK_TEST_MYSQL

#include "migrate/migrate_test.hpp"
#include "store/mysql/mysql_script.hpp"

#include <rowlock/client.hpp>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// The parts of a file that an interrupted migrator may leave: none of the statements, the first, the first two…
std::vector<std::string> parts(const std::string& file) {
  std::vector<std::string> result{""};
  for (const auto& statement : store::split_statements(file)) {
    result.push_back(result.back() + statement + ";\n");
  }
  return result;
}

}  // namespace

// Where each DDL statement commits by itself, a killed migrator leaves its file half applied.
class interrupted_test : public migrate_test {
 protected:
  // All up files, in the order in which they run.
  static std::string all_up() {
    std::string text;
    for (const auto& file : shipped_migrations(dialect_of(GetParam()))) text += file.up;
    return text;
  }
  static std::string all_down() {
    std::string text;
    for (const auto& file : shipped_migrations(dialect_of(GetParam()))) text = file.down + text;
    return text;
  }
};

TEST_P(interrupted_test, on_the_way_up_is_run_again) {
  for (const auto& part : parts(all_up())) {
    SCOPED_TRACE(part);
    const blank_database own{GetParam()};
    own.run(part);
    migrator again{own.url(), own.settings()};
    again.up();
    EXPECT_THAT(again.verify(), IsEmpty());
    EXPECT_NO_THROW(static_cast<void>(connect(own.url(), own.settings())));
  }
}

TEST_P(interrupted_test, on_the_way_down_is_run_again) {
  for (const auto& part : parts(all_down())) {
    SCOPED_TRACE(part);
    const blank_database own{GetParam()};
    migrator{own.url(), own.settings()}.up();
    own.run(part);
    migrator again{own.url(), own.settings()};
    again.down(0, true);
    EXPECT_THAT(own.describe(), IsEmpty());
    again.up();
    EXPECT_THAT(again.verify(), IsEmpty());
  }
}

TEST_P(interrupted_test, one_step_down_is_finished) {
  const auto files = shipped_migrations(dialect_of(GetParam()));
  for (std::size_t i = 1; i < files.size(); ++i) {
    const int below = files[i].version - 1;
    const blank_database once{GetParam()};
    migrator{once.url(), once.settings()}.up(below);
    for (const auto& part : parts(files[i].down)) {
      SCOPED_TRACE(part);
      const blank_database own{GetParam()};
      migrator again{own.url(), own.settings()};
      again.up(files[i].version);
      own.run("UPDATE rowlock_meta SET epoch" + std::string{i == 1 ? "_s = 64" : " = 1"});
      own.run(part);
      again.down();
      EXPECT_EQ(own.describe(), once.describe());
      EXPECT_THAT(own.run("SELECT 'found' FROM rowlock_meta WHERE epoch = 1 AND schema_version = " +
                          std::to_string(below)),
                  HasSubstr("found"));
      again.up();
      EXPECT_THAT(again.verify(), IsEmpty());
    }
  }
}

TEST_P(interrupted_test, down_is_completed_by_up) {
  const auto files = shipped_migrations(dialect_of(GetParam()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const auto& part : parts(files[i].down)) {
      SCOPED_TRACE(part);
      const blank_database own{GetParam()};
      migrator again{own.url(), own.settings()};
      again.up(files[i].version);
      own.run(part);
      again.up();
      EXPECT_THAT(again.verify(), IsEmpty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(stores, interrupted_test, testing::ValuesIn(selected_of({"mariadb", "mysql"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(interrupted_test);

// The same interruption, of a tool that begins no transaction and runs the whole file again.
class repeated_test : public migrate_test {
 protected:
  // The up files from `first` on, before `end`.
  std::string ups(std::size_t first, std::size_t end) const {
    std::string text;
    for (auto i = first; i < end; ++i) text += files[i].up;
    return text;
  }
  // What users may have stored: a lease, and a permit of it.
  static std::string of_users(const blank_database& to) { return to.lease_statement(-1) + ';' + a_permit; }
  // Each of the conditions is true of a row. One session looks, because to start the tool takes longer.
  static void expect_kept(const blank_database& in, const std::vector<std::string>& rows) {
    std::string looks;
    for (const auto& from_where : rows) looks += "SELECT 'kept' FROM " + from_where + ";\n";
    const auto found = in.run(looks);
    EXPECT_EQ(std::ranges::count(found, 'k'), static_cast<std::ptrdiff_t>(rows.size())) << looks << found;
  }

  static constexpr const char* a_permit =
      "INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at) VALUES "
      "('a', 'h', 'l', 3, 7, '2026-11-24');";
  const std::vector<migration> files = shipped_migrations(dialect_of(GetParam()));
};

TEST_P(repeated_test, on_the_way_up_from_any_statement) {
  const blank_database once{GetParam()};
  once.run(ups(0, files.size()));
  const auto whole = once.describe();
  for (std::size_t i = 1; i < files.size(); ++i) {
    for (const auto& part : parts(files[i].up)) {
      SCOPED_TRACE(part);
      const blank_database own{GetParam()};
      own.run(ups(0, i) + "UPDATE rowlock_meta SET epoch = 5, token_floor = 7, identity = 'x';" +
              of_users(own) + part);
      own.run(ups(i, files.size()));
      EXPECT_EQ(own.describe(), whole);
      expect_kept(own, {"rowlock_meta WHERE schema_version = " + std::to_string(newest()) +
                            " AND epoch = 5 AND token_floor = 7 AND identity = 'x'",
                        "rowlock_lease WHERE host = 'host' AND username = ''",
                        "rowlock_permit WHERE name = 'a' AND weight = 3 AND data IS NULL"});
    }
  }
}

TEST_P(repeated_test, on_the_way_down_from_any_statement) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    const blank_database once{GetParam()};
    once.run(ups(0, i));
    const auto below = once.describe();
    // Version 1 has no epoch in seconds.
    const std::string epoch = i == 1 ? "epoch = 2" : "epoch_s = 128";
    for (const auto& part : parts(files[i].down)) {
      SCOPED_TRACE(part);
      const blank_database own{GetParam()};
      own.run(ups(0, i + 1) + "UPDATE rowlock_meta SET epoch_s = 128, token_floor = 7, identity = 'x';" +
              of_users(own) + part);
      own.run(files[i].down);
      EXPECT_EQ(own.describe(), below);
      expect_kept(own,
                  {"rowlock_meta WHERE schema_version = " + std::to_string(i) + " AND " + epoch +
                       " AND token_floor = 7 AND identity = 'x'",
                   "rowlock_lease WHERE host = 'host'", "rowlock_permit WHERE name = 'a' AND weight = 3"});
    }
  }
}

TEST_P(repeated_test, keeps_what_the_columns_of_its_version_say) {
  const blank_database own{GetParam()};
  own.run(ups(0, files.size()) + a_permit + "UPDATE rowlock_permit SET data = 'mine'");
  own.run(files.at(3).up);
  expect_kept(own, {"rowlock_permit WHERE weight = 3 AND data = 'mine'"});
}

INSTANTIATE_TEST_SUITE_P(stores, repeated_test,
                         testing::ValuesIn(selected_of({"mariadb", "mysql", "sqlite"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(repeated_test);

}  // namespace rowlock::test

#endif
