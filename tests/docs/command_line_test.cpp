// The command lines of docs/operations.md and docs/upgrading.md run, in their order, on each SQL store.
#include "cli/cli_test.hpp"
#include "docs/page_blocks.hpp"
#include "migrate/blank_database.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif
#ifdef ROWLOCK_TEST_POSTGRES
#include <pqxx/pqxx>
#endif

#include <cstdlib>
#include <filesystem>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

// The lines of a page's blocks that call the command. A line that ends with a backslash continues in the next one.
std::vector<std::string> command_lines_of(const std::string& page) {
  std::vector<std::string> found;
  for (const auto& block : blocks_of(page)) {
    if (!block.language.empty() && block.language != "sh") continue;
    bool goes_on = false;
    for (const auto& line : block.lines) {
      if (goes_on) {
        found.back() += '\n' + line;
      } else if (line.starts_with("rowlock ") || line.find("| rowlock ") != std::string::npos) {
        found.push_back(line);
      } else {
        ADD_FAILURE() << page << " has a line that no test runs: " << line;
        continue;
      }
      goes_on = line.ends_with('\\');
    }
  }
  return found;
}

class command_line_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { migrator{db.url(), db.settings()}.up(); }

  std::map<std::string, std::string> environment() const {
    const auto path = std::filesystem::path{ROWLOCK_COMMAND_PATH}.parent_path().string();
    return {{"ROWLOCK_URL", db.url()},  {"ROWLOCK_SCHEMA", db.settings().schema},
            {"ROWLOCK_PREFIX", ""},     {"ROWLOCK_URL_FILE", ""},
            {"ROWLOCK_LISTEN_URL", ""}, {"PATH", path + ':' + std::getenv("PATH")}};
  }
  // A process that holds the lock of the page, and releases it when it is asked to.
  std::unique_ptr<command_process> hold() const {
    auto holder =
        start_rowlock({"run", "billing/nightly", "--yield", "--ttl", "6s", "--kill-after", "100ms", "--",
                       "sh", "-c", "trap 'exit 0' TERM; echo held; while :; do sleep 0.05; done"},
                      environment());
    if (holder->read_line() != "held") throw std::runtime_error("the holder did not start");
    return holder;
  }
  bool is_held() const {
    const auto shown = start_rowlock({"show", "billing/nightly", "--json"}, environment())->wait();
    if (shown.exit_code != 0) return false;
    return !nlohmann::json::parse(shown.out).at(0).at("holders").empty();
  }
  // Runs each line as a shell does, in a folder of its own. If a line does not end with 0, a comment in it names its
  // code: "# exits with 75".
  void run_all(const std::string& page, bool with_holder) {
    const auto lines = command_lines_of(page);
    EXPECT_GT(lines.size(), 4U) << page;
    std::unique_ptr<command_process> holder;
    for (const auto& line : lines) {
      if (with_holder && !is_held()) holder = hold();
      if (!with_holder) holder.reset();
      const auto result =
          command_process{{"sh", "-c", "cd '" + folder.path().string() + "' && " + line}, environment()}
              .wait();
      const auto said = line.find("# exits with ");
      const int expected = said == std::string::npos ? 0 : std::stoi(line.substr(said + 13));
      EXPECT_EQ(result.exit_code, expected) << page << ": " << line << '\n' << result.out << result.err;
    }
  }

  temporary_folder folder;
  blank_database db{GetParam()};
};

TEST_P(command_line_test, those_of_the_operations_page_run) {
  run_all("docs/operations.md", true);
}

TEST_P(command_line_test, those_of_the_upgrading_page_run) {
  run_all("docs/upgrading.md", false);
}

// The table of docs/upgrading.md.
TEST_P(command_line_test, a_program_fails_on_an_older_schema_and_changes_nothing) {
  migrator steps{db.url(), db.settings()};
  steps.down(required_schema_version() - 1);
  const auto before = db.describe();
  const auto ran = start_rowlock({"run", "billing/nightly", "--", "true"}, environment())->wait();
  EXPECT_EQ(ran.exit_code, 78);
  EXPECT_THAT(ran.err, testing::HasSubstr("migrate up"));
  EXPECT_EQ(db.describe(), before);
}

// "Backups": a logical backup without rowlock's tables.
TEST_P(command_line_test, tokens_go_on_rising_after_a_restore_without_the_tables) {
  const auto token_of_a_grant = [&] {
    const auto client = connect(db.url(), db.settings());
    return mutex(client, "billing/nightly").acquire().token().value();
  };
  const auto before = token_of_a_grant();
  migrator{db.url(), db.settings()}.down(0, true);
  eventually("the clock is past the epoch", [&] {
    using namespace std::chrono;
    return (system_clock::now() - sys_days{2026y / January / 1}) / 1s > (before >> 21);
  });
  migrator{db.url(), db.settings()}.up();
  EXPECT_GT(token_of_a_grant(), before);
}

// operations_test runs those of "Rights".
TEST_P(command_line_test, the_statements_of_the_operations_page_run) {
  const std::string lead = GetParam() == "postgres"        ? "PostgreSQL:"
                           : has_mysql_dialect(GetParam()) ? "MariaDB and MySQL:"
                                                           : "SQLite:";
  for (const auto& block : blocks_of("docs/operations.md")) {
    if (block.language != "sql" || block.section == "Rights") continue;
    EXPECT_THAT(block.lead, testing::AnyOf("PostgreSQL:", "MariaDB and MySQL:", "SQLite:")) << block.text();
    if (block.lead != lead) continue;
    EXPECT_NO_THROW(db.run(block.text())) << block.text();
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(command_line_test);

// For "A lock seems stuck": a forgotten transaction has locked the row, and nobody holds the lock.
class forgotten_transaction_test : public command_line_test {
 protected:
  command_result run_nightly() const {
    return start_rowlock({"run", "billing/nightly", "--no-wait", "--", "true"}, environment())->wait();
  }
  // The output of the runbook's statement.
  std::string open_transactions() const {
    const std::string lead = GetParam() == "postgres" ? "PostgreSQL:" : "MariaDB and MySQL:";
    for (const auto& block : blocks_of("docs/operations.md")) {
      if (block.section == "A lock seems stuck" && block.lead == lead) return db.run(block.text());
    }
    throw std::runtime_error("no statement for " + GetParam());
  }
};

TEST_P(forgotten_transaction_test, makes_the_command_exit_with_69) {
  ASSERT_EQ(run_nightly().exit_code, 0);
  [[maybe_unused]] const std::string take =
      "SELECT name FROM rowlock_lock WHERE name = 'billing/nightly' FOR UPDATE";
#ifdef ROWLOCK_TEST_POSTGRES
  if (GetParam() == "postgres") {
    pqxx::connection forgotten{db.url()};
    pqxx::work work{forgotten};
    work.exec("SET LOCAL search_path = " + db.settings().schema);
    work.exec(take);
    EXPECT_EQ(run_nightly().exit_code, 69);
    EXPECT_THAT(open_transactions(), testing::HasSubstr("idle in transaction"));
  }
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (has_mysql_dialect(GetParam())) {
    mysql_connection forgotten{db.url()};
    forgotten.run("START TRANSACTION");
    forgotten.run(take);
    EXPECT_EQ(run_nightly().exit_code, 69);
    EXPECT_THAT(open_transactions(), testing::HasSubstr(forgotten.id()));
  }
#endif
  EXPECT_EQ(run_nightly().exit_code, 0) << "the transaction has ended";
}

INSTANTIATE_TEST_SUITE_P(stores, forgotten_transaction_test,
                         testing::ValuesIn(selected_of({"postgres", "mariadb", "mysql"})), store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(forgotten_transaction_test);

// "Alerts" quotes the log literally: the text between the dots occurs in the source.
TEST(command_lines, alerts_quote_lines_of_the_log) {
  std::string sources;
  const auto top = source_path("");
  for (const auto& entry : std::filesystem::recursive_directory_iterator{source_path("src/client")}) {
    if (entry.path().extension() != ".cpp") continue;
    sources += text_of(std::filesystem::relative(entry.path(), top).string());
  }
  bool inside = false;
  int quoted = 0;
  for (const auto& line : lines_of("docs/operations.md")) {
    if (line.starts_with("## ")) inside = line == "## Alerts";
    if (!inside || !line.starts_with("| `")) continue;
    const auto text = line.substr(3, line.find('`', 3) - 3);
    ++quoted;
    std::size_t from = 0;
    while (from < text.size()) {
      const auto to = text.find("…", from);
      const auto part = text.substr(from, to == std::string::npos ? to : to - from);
      EXPECT_NE(sources.find(part), std::string::npos) << "nothing logs: " << part;
      from = to == std::string::npos ? text.size() : to + std::string{"…"}.size();
    }
  }
  EXPECT_GE(quoted, 4);
}

}  // namespace
}  // namespace rowlock::test
