// The programs of docs/other-languages.md run as shown against each database, and are refused when the lock is lost.
// The page says where that is not tested.
#include "cli/cli_test.hpp"
#include "docs/page_blocks.hpp"
#include "docs/page_programs.hpp"
#include "docs/shell.hpp"
#include "migrate/blank_database.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <ostream>

namespace rowlock::test {
namespace {

using testing::HasSubstr;

const char* const page = "docs/other-languages.md";

page_block block_of_page(const std::string& section) {
  for (const auto& one : blocks_of(page)) {
    if (one.section == section) return one;
  }
  throw std::runtime_error("no block in " + section);
}

// An account with a balance of 100 beside rowlock's tables, and ./bill, which takes 50 from it.
class billed_database {
 public:
  explicit billed_database(const std::string& store) : store_{store}, db_{store} {
    migrator{db_.url(), db_.settings()}.up();
    db_.run("CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)");
    db_.run("INSERT INTO account VALUES (1, 100)");
  }

  const blank_database& database() const { return db_; }
  std::string balance() const { return db_.run("SELECT balance FROM account"); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream{folder_.path() / file} << text;
  }
  // Makes ./bill, which runs these lines in its folder.
  void write_bill(const std::string& lines) const {
    write("bill", "#!/bin/sh\n" + lines);
    std::filesystem::permissions(folder_.path() / "bill", std::filesystem::perms::owner_all);
  }
  // Runs a compiler in the folder, which may take more than a minute; an empty command does nothing.
  void build(const std::string& command) const {
    if (command.empty()) return;
    const auto log = (folder_.path() / "build.log").string();
    const auto status = std::system((in_folder(command) + " >'" + log + "' 2>&1").c_str());
    std::ifstream said{log};
    ASSERT_EQ(status, 0) << command << '\n' << std::string{std::istreambuf_iterator<char>{said}, {}};
  }
  // Runs ./bill with the page's first line.
  command_result bill() const {
    return shell(with_own(block_of_page("Guarded writes in other languages").text(), "--dialect postgresql",
                          "--dialect " + dialect()),
                 {});
  }
  // Runs it with the guard of a hold that is over.
  command_result bill_too_late() const { return shell("exec ./bill", old_guard()); }

 private:
  std::string dialect() const { return store_ == "postgres" ? "postgresql" : store_; }
  std::string in_folder(const std::string& line) const {
    return "cd '" + folder_.path().string() + "' && " + line;
  }
  command_result shell(const std::string& line, const std::string& guard) const {
    std::map<std::string, std::string> variables{{"ROWLOCK_URL", db_.url()},
                                                 {"ROWLOCK_SCHEMA", db_.settings().schema},
                                                 {"ROWLOCK_PREFIX", ""},
                                                 {"GUARD", guard}};
    if (store_ == "postgres") variables["PGOPTIONS"] = "-c search_path=" + db_.settings().schema;
    return start_with_rowlock_in_path({"sh", "-c", in_folder(line)}, variables)->wait();
  }
  std::string old_guard() const {
    hold_id over;
    {
      const client holder = connect(db_.url(), db_.settings());
      over = mutex(holder, "billing/nightly").acquire().id();
    }
    return start_with_rowlock_in_path(
               {"rowlock", "guard", "billing/nightly", "--hold", over.to_string(), "--dialect", dialect()},
               {{"ROWLOCK_SCHEMA", db_.settings().schema}})
        ->wait()
        .out;
  }

  const std::string store_;
  const blank_database db_;
  const temporary_folder folder_;
};

struct program_on_store {
  page_program program;
  std::string store;

  friend std::ostream& operator<<(std::ostream& out, const program_on_store& one) {
    return out << one.program.language.name << " on " << one.store;
  }
};

std::vector<program_on_store> programs_on_stores() {
  std::vector<program_on_store> all;
  for (const auto& program : page_programs()) {
    for (const auto& store : selected_of({"sqlite", "postgres", "mariadb", "mysql"})) {
      if (std::ranges::count(program.stores, store) > 0) all.push_back({program, store});
    }
  }
  return all;
}

class other_languages_test : public testing::TestWithParam<program_on_store> {};

TEST_P(other_languages_test, its_program_writes_while_the_lock_is_held_and_not_afterwards) {
  const auto& program = GetParam().program;
  const auto missing = program.missing();
  if (!missing.empty()) GTEST_SKIP() << missing << " is not installed";
  const billed_database billed{GetParam().store};
  billed.write(program.language.file,
               program.with_address(program.block().text(), driver_address{billed.database()}));
  ASSERT_NO_FATAL_FAILURE(billed.build(program.language.build));
  billed.write_bill(program.start + '\n');

  const auto held = billed.bill();
  EXPECT_EQ(held.exit_code, 0) << held.out << held.err;
  EXPECT_EQ(billed.balance(), "50");
  const auto late = billed.bill_too_late();
  EXPECT_EQ(late.exit_code, 1) << late.out;
  EXPECT_THAT(late.err, HasSubstr("the lock is lost"));
  EXPECT_EQ(billed.balance(), "50");
}

INSTANTIATE_TEST_SUITE_P(stores, other_languages_test, testing::ValuesIn(programs_on_stores()),
                         [](const auto& which) {
                           return which.param.program.language.name + "_" + which.param.store;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(other_languages_test);

#ifdef ROWLOCK_TEST_POSTGRES
class psql_test : public testing::TestWithParam<std::string> {};

TEST_P(psql_test, fails_without_the_lock) {
  const billed_database billed{GetParam()};
  billed.write_bill(
      with_own(block_of_page("A shell, with psql").text(), "psql", "psql '" + billed.database().url() + "'"));
  const auto held = billed.bill();
  EXPECT_EQ(held.exit_code, 0) << held.err;
  EXPECT_EQ(billed.balance(), "50");
  EXPECT_NE(billed.bill_too_late().exit_code, 0);
  EXPECT_EQ(billed.balance(), "50");
}

INSTANTIATE_TEST_SUITE_P(stores, psql_test, testing::ValuesIn(selected_of({"postgres"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(psql_test);
#endif

TEST(other_languages, the_page_says_which_programs_no_test_runs) {
  std::vector<std::string> tested;
  for (const auto& program : page_programs()) tested.push_back(program.block().text());
  std::size_t untested = 0;
  for (const auto& one : blocks_of(page)) {
    if (one.language.empty()) continue;
    const bool runs_it = std::ranges::count(tested, one.text()) > 0;
    EXPECT_EQ(one.lead.find("not tested here") == std::string::npos, runs_it)
        << one.section << ": " << one.lead;
    if (!runs_it) ++untested;
  }
  EXPECT_EQ(untested, 1U);
}

}  // namespace
}  // namespace rowlock::test
