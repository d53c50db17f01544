// The recipes of docs/migrations.md run on each SQL store: with the tools where they are installed, otherwise as the
// tools would run them.
#include "cli/cli_test.hpp"
#include "docs/migration_tools.hpp"
#include "docs/page_blocks.hpp"
#include "docs/shell.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <tuple>

namespace rowlock::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string for_dialect(std::string line, const std::string& dialect) {
  const std::string pages = "--dialect postgres";
  const auto at = line.find(pages);
  if (at == std::string::npos) throw std::runtime_error("'" + line + "' does not say " + pages);
  return line.replace(at, pages.size(), "--dialect " + dialect);
}

class migrations_test : public testing::TestWithParam<std::tuple<std::string, migration_tool>> {
 protected:
  const std::string& store() const { return std::get<0>(GetParam()); }
  const migration_tool& tool() const { return std::get<1>(GetParam()); }

  page_block block(const std::string& language) const {
    for (auto& one : blocks_of("docs/migrations.md")) {
      if (one.section == tool().section && one.language == language) return one;
    }
    throw std::runtime_error("docs/migrations.md has no recipe for " + tool().section);
  }
  command_result shell(const std::string& line) const {
    auto environment = environment_of(tool(), db);
    environment["ROWLOCK_URL"] = db.url();
    environment["ROWLOCK_SCHEMA"] = db.settings().schema;
    environment["ROWLOCK_PREFIX"] = environment["ROWLOCK_URL_FILE"] = "";
    return start_with_rowlock_in_path({"sh", "-c", "cd '" + folder.path().string() + "' && " + line},
                                      environment)
        ->wait();
  }
  void succeed(const std::string& line) const {
    const auto result = shell(line);
    EXPECT_EQ(result.exit_code, 0) << line << '\n' << result.out << result.err;
  }
  // The recipe's first line for this store.
  std::string exporting() const {
    const auto line = block("sh").lines.at(0);
    EXPECT_THAT(line, HasSubstr("--format " + tool().format + " "));
    return for_dialect(line, dialect_of(store()));
  }
  std::filesystem::path migrations() const {
    const auto line = exporting();
    return folder.path() / line.substr(line.rfind(' ') + 1);
  }
  void run_recipe(const std::function<void(const std::string& line)>& run_tool) {
    if (tool().format == "liquibase") {
      std::filesystem::create_directories(folder.path() / "db");
      std::ofstream{folder.path() / "db/changelog.yaml"} << block("yaml").text();
    }
    const std::string version = tool().format == "dbmate" ? "20250131120000" : "000006";
    write_own_migration(tool(), migrations(), version, "team_table");
    int ran = 0;
    for (const auto& line : block("sh").lines) {
      if (line.starts_with("rowlock migrate sql ")) {
        succeed(exporting());
      } else if (line.starts_with(tool().program + " ")) {
        run_tool(line);
        ++ran;
      } else {
        succeed(line);
      }
    }
    EXPECT_EQ(ran, 1);
    succeed("rowlock run billing/nightly -- true");
    EXPECT_NO_THROW(db.run("INSERT INTO team_table VALUES (1)"));
    EXPECT_EQ(migrator(db.url(), db.settings()).verify(), std::vector<std::string>{});
    for (const auto& line : migrator(db.url(), db.settings()).status())
      EXPECT_TRUE(line.recorded) << line.title;

    const auto before = names_in(migrations());
    EXPECT_EQ(shell(exporting()).out, "");
    EXPECT_EQ(names_in(migrations()), before);
  }

  temporary_folder folder;
  blank_database db{store()};
};

TEST_P(migrations_test, the_recipe_runs_with_the_tool) {
  if (!is_installed(tool().program)) GTEST_SKIP() << tool().program << " is not installed";
  run_recipe([this](const std::string& line) { succeed(line); });
}

TEST_P(migrations_test, the_recipe_runs_as_the_tool_would_do_it) {
  run_recipe([this](const std::string&) { apply_like(tool(), migrations(), db); });
}

INSTANTIATE_TEST_SUITE_P(
    stores, migrations_test,
    testing::Combine(testing::ValuesIn(selected_of({"sqlite", "postgres", "mariadb", "mysql"})),
                     testing::ValuesIn(migration_tools())),
    [](const auto& which) { return std::get<0>(which.param) + "_" + std::get<1>(which.param).program; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(migrations_test);

TEST(migrations_page, has_a_recipe_for_each_format) {
  const auto help = rowlock_alone({"migrate", "sql", "--help"}).out;
  for (const auto& tool : migration_tools()) {
    EXPECT_THAT(help, HasSubstr(tool.format));
    EXPECT_THAT(text_of("docs/migrations.md"), HasSubstr("\n## " + tool.section + "\n"));
  }
}

}  // namespace
}  // namespace rowlock::test
