// The programs in Python on docs/other-languages.md, and its line for psql, run as shown against each database, and are
// refused when the lock is lost. The page says of every other language that it is not tested.
#include "cli/cli_test.hpp"
#include "docs/page_blocks.hpp"
#include "docs/shell.hpp"
#include "migrate/blank_database.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <fstream>
#include <regex>

namespace rowlock::test {
namespace {

using testing::HasSubstr;

const char* const page = "docs/other-languages.md";

// The text with the database of the page replaced by that of the test.
std::string with_own(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("the page does not say: " + what);
  return text.replace(at, what.size(), with);
}

class other_languages_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    migrator{db.url(), db.settings()}.up();
    db.run("CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)");
    db.run("INSERT INTO account VALUES (1, 100)");
  }

  static page_block block(const std::string& section, const std::string& lead) {
    for (const auto& one : blocks_of(page)) {
      if (one.section == section && one.lead.find(lead) != std::string::npos) return one;
    }
    throw std::runtime_error("no block of " + lead);
  }
  std::string program() const {
    if (GetParam() == "postgres") {
      return with_own(block("Python", "psycopg 2").text(), "postgresql://app@db/shop", db.url());
    }
    if (GetParam() == "sqlite") {
      return with_own(block("Python", "sqlite3").text(), "shop.db",
                      db.url().substr(std::string{"sqlite:"}.size()));
    }
    static const std::regex url{R"((?:mysql|mariadb)://([^:@]*):?([^@]*)@([^:/]*):(\d+)/([a-z0-9_]*).*)"};
    std::smatch parts;
    const auto own = db.url();
    if (!std::regex_match(own, parts, url)) throw std::runtime_error("an unusual URL: " + own);
    return with_own(block("Python", "PyMySQL").text(),
                    R"(host="db", port=3306, user="app", password="secret", database="shop")",
                    "host=\"" + parts[3].str() + "\", port=" + parts[4].str() + ", user=\"" + parts[1].str() +
                        "\", password=\"" + parts[2].str() + "\", database=\"" + parts[5].str() + '"');
  }
  // Runs the page's first line with this command instead of ./bill, or the command alone if it finds its guard in the
  // environment.
  command_result run(const std::string& command, const std::string& guard = {}) {
    std::map<std::string, std::string> variables{{"ROWLOCK_URL", db.url()},
                                                 {"ROWLOCK_SCHEMA", db.settings().schema},
                                                 {"ROWLOCK_PREFIX", ""},
                                                 {"GUARD", guard}};
    if (GetParam() == "postgres") variables["PGOPTIONS"] = "-c search_path=" + db.settings().schema;
    auto line = "exec " + command;
    if (guard.empty()) {
      line = with_own(block("Guarded writes in other languages", "You need no library").text(), "./bill",
                      command);
      line = with_own(line, "--dialect postgresql", "--dialect " + dialect());
    }
    return start_with_rowlock_in_path({"sh", "-c", line}, variables)->wait();
  }
  std::string dialect() const { return GetParam() == "postgres" ? "postgresql" : GetParam(); }
  std::string balance() const { return db.run("SELECT balance FROM account"); }
  std::string write_file(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / name;
    std::ofstream{path} << text;
    return path.string();
  }
  // The guard of a hold that is over.
  std::string old_guard() const {
    hold_id over;
    {
      const client holder = connect(db.url(), db.settings());
      over = mutex(holder, "billing/nightly").acquire().id();
    }
    return start_with_rowlock_in_path(
               {"rowlock", "guard", "billing/nightly", "--hold", over.to_string(), "--dialect", dialect()},
               {{"ROWLOCK_SCHEMA", db.settings().schema}})
        ->wait()
        .out;
  }

  blank_database db{GetParam()};
  const temporary_folder folder;
};

TEST_P(other_languages_test, its_program_in_python_writes_while_the_lock_is_held_and_not_afterwards) {
  const auto command = "/usr/bin/python3 " + write_file("bill.py", program());
  const auto held = run(command);
  EXPECT_EQ(held.exit_code, 0) << held.err;
  EXPECT_EQ(balance(), "50");
  const auto late = run(command, old_guard());
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("the lock is lost"));
  EXPECT_EQ(balance(), "50");
}

ROWLOCK_FOR_EACH_SQL_STORE(other_languages_test);

#ifdef ROWLOCK_TEST_POSTGRES
class psql_test : public other_languages_test {};

TEST_P(psql_test, fails_without_the_lock) {
  const auto script = with_own(block("A shell, with psql", "").text(), "psql", "psql '" + db.url() + "'");
  const auto command = "sh " + write_file("bill.sh", script);
  const auto held = run(command);
  EXPECT_EQ(held.exit_code, 0) << held.err;
  EXPECT_EQ(balance(), "50");
  EXPECT_NE(run(command, old_guard()).exit_code, 0);
  EXPECT_EQ(balance(), "50");
}

INSTANTIATE_TEST_SUITE_P(stores, psql_test, testing::ValuesIn(selected_of({"postgres"})), store_test_name);
#endif

TEST(other_languages, the_page_says_which_programs_no_test_runs) {
  std::size_t untested = 0;
  for (const auto& one : blocks_of(page)) {
    if (one.language.empty() || one.language == "python") continue;
    EXPECT_THAT(one.lead, HasSubstr("not tested here")) << one.section;
    ++untested;
  }
  EXPECT_EQ(untested, 6U);
}

}  // namespace
}  // namespace rowlock::test
