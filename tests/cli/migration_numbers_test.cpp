// Which versions `rowlock migrate sql` gives to its files in another tool's folder. No database is needed.
#include "cli/cli_test.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/migrate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;

// A name for each migration, in ascending order. The pattern takes a number, of which the first is `from`,
// and the migration's title.
words numbered(const std::string& pattern, std::uint64_t from) {
  words result;
  for (const auto& file : shipped_migrations("sqlite"))
    result.push_back(fmt::format(fmt::runtime(pattern), from++, file.title));
  return result;
}

words together(words some, const words& others) {
  some.insert(some.end(), others.begin(), others.end());
  std::ranges::sort(some);
  return some;
}

words without_first(words all) {
  all.erase(all.begin());
  return all;
}

// The times of the first migrations never change.
void expect_own_times(const words& found) {
  ASSERT_EQ(found.size(), shipped_migrations("sqlite").size());
  EXPECT_EQ(found[0], "20261120123205_rowlock_locks.sql");
  EXPECT_EQ(found[1], "20261122172457_rowlock_seconds.sql");
  EXPECT_EQ(found[2], "20261123143000_rowlock_operators.sql");
}

class migration_numbers_test : public testing::Test {
 protected:
  void SetUp() override {
    if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "sqlite is not selected";
  }
  command_result write(words options) const {
    const words first{"migrate", "sql", "--dialect", "sqlite", "--out", folder_.path()};
    options.insert(options.begin(), first.begin(), first.end());
    return rowlock_alone(options);
  }
  // The names of the files that are new.
  words written(const words& options) const {
    const auto before = names();
    const auto result = write(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    words added;
    std::ranges::set_difference(names(), before, std::back_inserter(added));
    return added;
  }
  void put(const std::string& name, const std::string& text = "SELECT 1;\n") const {
    std::ofstream{folder_.path() / name} << text;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file{folder_.path() / name};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void rename(const std::string& from, const std::string& to) const {
    std::filesystem::rename(folder_.path() / from, folder_.path() / to);
  }
  void remove(const std::string& name) const { std::filesystem::remove(folder_.path() / name); }

 private:
  words names() const {
    words result;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path()}) {
      result.push_back(entry.path().filename());
    }
    std::ranges::sort(result);
    return result;
  }

  temporary_folder folder_;
};

TEST_F(migration_numbers_test, each_tool_has_names_of_its_own) {
  EXPECT_EQ(written({"--format", "flyway"}),
            together(numbered("U{:04}__rowlock_{}.sql", 1), numbered("V{:04}__rowlock_{}.sql", 1)));
  EXPECT_EQ(written({"--format", "goose"}), numbered("{:05}_rowlock_{}.sql", 1));
}

TEST_F(migration_numbers_test, golang_migrate_has_six_digits) {
  EXPECT_EQ(written({"--format", "golang-migrate"}),
            together(numbered("{:06}_rowlock_{}.down.sql", 1), numbered("{:06}_rowlock_{}.up.sql", 1)));
}

TEST_F(migration_numbers_test, new_files_come_after_the_newest_of_the_folder) {
  put("V1.2__orders.sql");
  put("V6_1__customers.sql");
  put("R__views.sql");
  put("99_not_flyways.sql");
  EXPECT_EQ(written({"--format", "flyway", "--start-version", "3"}),
            together(numbered("U{}__rowlock_{}.sql", 7), numbered("V{}__rowlock_{}.sql", 7)));
}

TEST_F(migration_numbers_test, start_version_numbers_from_there) {
  put("006_orders.sql");
  EXPECT_EQ(written({"--format", "goose", "--start-version", "40"}), numbered("{:03}_rowlock_{}.sql", 40));
  for (const std::string wrong : {"0", "-1", "x", "99999999999999999999"}) {
    EXPECT_EQ(write({"--format", "goose", "--start-version", wrong}).exit_code, 64) << wrong;
  }
  EXPECT_EQ(write({"--format", "goose", "--start-version", "50", "--timestamp"}).exit_code, 64);
}

TEST_F(migration_numbers_test, a_timestamp_is_that_of_the_migration) {
  expect_own_times(written({"--format", "dbmate", "--timestamp"}));
}

TEST_F(migration_numbers_test, a_timestamp_comes_after_the_newest_and_is_a_time) {
  put("20261231235959_orders.sql");
  EXPECT_EQ(written({"--format", "dbmate", "--timestamp"}), numbered("{}_rowlock_{}.sql", 20270101000000));
}

TEST_F(migration_numbers_test, a_folder_of_timestamps_goes_on_with_them) {
  put("20250101000000_orders.sql");
  expect_own_times(written({"--format", "goose"}));
}

// This is what a later version of rowlock does with a folder that an earlier version has written.
TEST_F(migration_numbers_test, a_later_export_appends) {
  for (const auto& name : without_first(written({"--format", "goose", "--start-version", "7"}))) remove(name);
  put("00009_orders.sql");
  EXPECT_EQ(written({"--format", "goose", "--start-version", "7"}),
            without_first(numbered("{:05}_rowlock_{}.sql", 9)));
  EXPECT_THAT(written({"--format", "goose", "--start-version", "7"}), IsEmpty());
  EXPECT_THAT(written({"--format", "goose", "--timestamp"}), IsEmpty());
}

TEST_F(migration_numbers_test, a_renamed_file_is_recognized) {
  written({"--format", "goose", "--timestamp"});
  rename("20261120123205_rowlock_locks.sql", "00007_rowlock_locks.sql");  // as goose fix does
  rename("20261122172457_rowlock_seconds.sql", "00008_lock_seconds.sql");
  EXPECT_THAT(written({"--format", "goose", "--timestamp"}), IsEmpty());
}

// rowlock 0.1.0 wrote V0001__locks.sql.
TEST_F(migration_numbers_test, the_names_of_earlier_versions_are_recognized) {
  put("V0001__locks.sql", shipped_migrations("sqlite").at(0).up);
  EXPECT_EQ(written({"--format", "flyway"}), together(numbered("U{:04}__rowlock_{}.sql", 1),
                                                      without_first(numbered("V{:04}__rowlock_{}.sql", 1))));
}

TEST_F(migration_numbers_test, another_prefix_is_another_set_of_files) {
  const auto own = written({"--format", "goose"});
  EXPECT_EQ(written({"--format", "goose", "--prefix", "tenant_a_"}),
            numbered("{:05}_tenant_a_{}.sql", own.size() + 1));
}

TEST_F(migration_numbers_test, what_was_changed_is_left_alone) {
  written({"--format", "goose"});
  put("00001_rowlock_locks.sql", "mine");
  const auto refused = write({"--format", "goose"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("exists with other content"));
  EXPECT_EQ(text_of("00001_rowlock_locks.sql"), "mine");
}

TEST_F(migration_numbers_test, a_migration_that_is_there_twice_is_refused) {
  written({"--format", "goose"});
  put("00007_rowlock_locks.sql", text_of("00001_rowlock_locks.sql"));
  const auto refused = write({"--format", "goose"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("'00001_rowlock_locks.sql' and '00007_rowlock_locks.sql'"));
}

TEST_F(migration_numbers_test, a_gap_is_refused) {
  written({"--format", "goose"});
  remove("00001_rowlock_locks.sql");
  const auto refused = write({"--format", "goose"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("has migration seconds and not locks"));
}

TEST_F(migration_numbers_test, plain_files_take_numbers_only_if_asked) {
  put("0006_orders.up.sql");
  EXPECT_EQ(written({}), together(numbered("{:04}_{}.down.sql", 1), numbered("{:04}_{}.up.sql", 1)));
  EXPECT_THAT(written({"--format", "plain", "--start-version", "7"}), IsEmpty()) << "they are there";
}

TEST_F(migration_numbers_test, plain_files_with_numbers_say_whose_they_are) {
  put("0006_orders.up.sql");
  EXPECT_EQ(written({"--start-version", "1"}),
            together(numbered("{:04}_rowlock_{}.down.sql", 7), numbered("{:04}_rowlock_{}.up.sql", 7)));
}

}  // namespace rowlock::test
