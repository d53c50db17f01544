// docs/sql-protocol.md names each column of each database correctly, its queries run, and the statements that it names
// exist.
#include "cli/cli_test.hpp"
#include "docs/page_blocks.hpp"
#include "migrate/blank_database.hpp"

#include "support/background.hpp"

#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <regex>
#include <set>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const char* const page = "docs/sql-protocol.md";

// The cells of a line of a table, without the blanks around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t from = 1, to = 0; (to = line.find('|', from)) != std::string::npos; from = to + 1) {
    const auto cell = line.substr(from, to - from);
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? ""
                                               : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
  }
  return cells;
}

class sql_protocol_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { migrator{db.url(), db.settings()}.up(); }

  client connect(const std::string& application) const {
    auto settings = db.settings();
    settings.application = application;
    return rowlock::connect(db.url(), settings);
  }
  // The output of the query in that section.
  std::string print(const std::string& section) const {
    const auto* name = GetParam() == "postgres"        ? "PostgreSQL"
                       : has_mysql_dialect(GetParam()) ? "MySQL"
                                                       : "SQLite";
    for (const auto& block : blocks_of(page)) {
      if (block.section == section && block.lead.find(name) != std::string::npos) return db.run(block.text());
    }
    ADD_FAILURE() << "no query of " << name << " in the section " << section;
    return {};
  }

  blank_database db{GetParam()};
};

TEST_P(sql_protocol_test, names_each_column_with_its_type) {
  const std::size_t place = GetParam() == "postgres" ? 1 : has_mysql_dialect(GetParam()) ? 2 : 3;
  std::set<std::string> documented;
  std::string table;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with('#')) table = line.substr(line.find_first_not_of("# "));
    if (!table.starts_with("rowlock_") || !line.starts_with("| `")) continue;
    const auto cells = cells_of(line);
    ASSERT_EQ(cells.size(), 5U) << line;
    EXPECT_THAT(cells[4], Not(IsEmpty())) << line;
    if (cells[place] == "–") continue;
    documented.insert(table + '.' + cells[0].substr(1, cells[0].size() - 2) + ' ' + cells[place]);
  }
  std::set<std::string> stored;
  for (auto column : db.describe()) {
    if (column.ends_with(" not null")) column.resize(column.size() - std::string{" not null"}.size());
    stored.insert(column);
  }
  EXPECT_EQ(documented, stored);
}

TEST_P(sql_protocol_test, its_queries_show_holders_and_waiters) {
  const auto first = connect("holder-program");
  const auto second = connect("waiter-program");
  const hold held = mutex(first, "billing/nightly").acquire();
  const hold read = shared_mutex(first, "report").acquire_shared();
  std::stop_source stop;
  auto waits = in_background(
      [&] { return mutex(second, "billing/nightly").try_acquire_for(60s, {.stop = stop.get_token()}); });
  eventually("it waits", [&] { return !admin{first}.queue("billing/nightly").empty(); });

  const auto holders = print("Who holds what, and for how long");
  EXPECT_THAT(holders,
              AllOf(HasSubstr("billing/nightly"), HasSubstr("holder-program"), HasSubstr("exclusive")));
  EXPECT_THAT(holders, AllOf(HasSubstr("report"), HasSubstr("shared")));
  EXPECT_THAT(holders, AllOf(HasSubstr(held.token().to_string()), Not(HasSubstr("waiter-program"))));
  const auto waiters = print("Who waits");
  EXPECT_THAT(waiters, AllOf(HasSubstr("billing/nightly"), HasSubstr("waiter-program")));
  EXPECT_THAT(waiters, Not(HasSubstr("holder-program")));
  EXPECT_THAT(print("Expired leases"), IsEmpty());
  EXPECT_THAT(print("Locks that only the dead hold"), IsEmpty());
  stop.request_stop();
  EXPECT_FALSE(waits.get());
}

TEST_P(sql_protocol_test, its_queries_show_the_dead) {
  db.add_lease(-60);
  EXPECT_THAT(print("Expired leases"), HasSubstr("test"));
  const auto quiet = connect("quiet-program");
  const hold held = mutex(quiet, "billing/nightly").acquire();
  EXPECT_THAT(print("Locks that only the dead hold"), IsEmpty());
  db.run("DELETE FROM rowlock_lease");
  EXPECT_THAT(print("Locks that only the dead hold"), HasSubstr("billing/nightly"));
}

TEST_P(sql_protocol_test, its_queries_show_what_rests) {
  const auto db_client = connect("quiet-program");
  mutex(db_client, "billing/nightly").acquire({.min_hold = 1h}).release();
  EXPECT_THAT(print("Who holds what, and for how long"), HasSubstr("billing/nightly"));
  const std::string zeros = GetParam() == "postgres"        ? "'00000000-0000-0000-0000-000000000000'"
                            : has_mysql_dialect(GetParam()) ? "UNHEX('00000000000000000000000000000000')"
                                                            : "'00000000000000000000000000000000'";
  EXPECT_EQ(db.run("SELECT count(*) FROM rowlock_lock WHERE hold_id = " + zeros), "1");
}

TEST_P(sql_protocol_test, its_query_shows_the_version) {
  EXPECT_THAT(print("The schema and the epoch"), HasSubstr(std::to_string(required_schema_version())));
}

ROWLOCK_FOR_EACH_SQL_STORE(sql_protocol_test);

TEST(sql_protocol, each_sql_block_is_a_query_that_a_test_runs) {
  std::map<std::string, int> queries;
  for (const auto& block : blocks_of(page)) {
    if (block.language != "sql") continue;
    EXPECT_TRUE(block.text().starts_with("SELECT ")) << block.text();
    for (const auto* name : {"PostgreSQL", "MySQL", "SQLite"}) {
      if (block.lead.find(name) != std::string::npos) ++queries[block.section];
    }
  }
  EXPECT_EQ(queries.size(), 5U) << "the tests above name five sections";
  for (const auto& [section, count] : queries) EXPECT_EQ(count, 3) << section;
}

// A client that reads what is outdated takes a missing row for a deleted one.
TEST(sql_protocol, names_the_settings_with_which_members_of_clusters_read) {
  const auto setup = text_of("src/store/mysql/sql/setup.sql");
  const auto begin = setup.find("-- name: connect_cluster\n");
  const auto end = setup.find("-- name: connect_group\n");
  ASSERT_LT(begin, end);
  ASSERT_NE(end, std::string::npos);
  const auto statements = setup.substr(begin, end - begin);
  std::string section;
  bool inside = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with('#')) inside = line == "### A connection";
    if (inside) section += line + '\n';
  }
  static const std::regex setting{"wsrep_[a-z_]+ = [0-9A-Z]+|'BEFORE[A-Z_]*'"};
  std::size_t settings = 0;
  for (std::sregex_iterator at{statements.begin(), statements.end(), setting}; at != std::sregex_iterator{};
       ++at) {
    EXPECT_NE(section.find(at->str()), std::string::npos) << at->str();
    ++settings;
  }
  EXPECT_EQ(settings, 5U);
}

TEST(sql_protocol, the_statements_that_it_names_exist) {
  std::set<std::string> names;
  static const std::regex marker{"-- name: ([a-z_]+)"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{source_path("src/store")}) {
    if (entry.path().extension() != ".sql") continue;
    const auto text = text_of(std::filesystem::relative(entry.path(), source_path("")).string());
    for (std::sregex_iterator at{text.begin(), text.end(), marker}; at != std::sregex_iterator{}; ++at) {
      names.insert((*at)[1]);
    }
  }
  static const std::regex quoted{"`([a-z_]+)`"};
  std::size_t named = 0;
  bool inside = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with('#')) inside = line == "## The statements in words";
    if (!inside || !line.starts_with("| ")) continue;
    const auto where = cells_of(line).at(2);
    for (std::sregex_iterator at{where.begin(), where.end(), quoted}; at != std::sregex_iterator{}; ++at) {
      EXPECT_TRUE(names.contains((*at)[1])) << (*at)[1];
      ++named;
    }
  }
  EXPECT_GT(named, 20U);
}

}  // namespace
}  // namespace rowlock::test
