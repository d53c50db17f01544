#include "cli/cli_test.hpp"
#include "model/ids.hpp"
#include "support/temporary_folder.hpp"
#ifdef ROWLOCK_TEST_MYSQL
#include "support/mysql_connection.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace rowlock::test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const int newest = required_schema_version();

// The names of all migrations, such as "0001_locks", in ascending order.
std::vector<std::string> migration_names() {
  std::vector<std::string> names;
  for (const auto& file : shipped_migrations("sqlite"))
    names.push_back(fmt::format("{:04}_{}", file.version, file.title));
  return names;
}

// Each test migrates with a prefix of its own, beside the fixture's tables, and drops its tables at the end.
class migrate_command_test : public cli_test {
 protected:
  void TearDown() override { take_down(); }

  // The tables of this prefix belong to the role that migrates.
  std::string url() const { return as_role(store->url(), role_use::migrate); }
  command_result rowlock(const words& line) {
    auto variables = environment();
    variables["ROWLOCK_URL"] = url();
    return start_rowlock(line, variables)->wait();
  }
  command_result take_down() { return migrate({"down", "--to", "0", "--destroy-tokens"}); }
  command_result migrate(words line) {
    line.insert(line.begin(), {"migrate", "--prefix", prefix_});
    return rowlock(line);
  }
  nlohmann::json migrate_json(words line) {
    line.push_back("--json");
    return nlohmann::json::parse(migrate(line).out);
  }
  // Runs a file with psql, mariadb or sqlite3, as a migration tool other than rowlock would.
  command_result apply(const std::string& file) {
    auto command = GetParam() == "postgres"
                       ? "psql -Xq -v ON_ERROR_STOP=1 '" + url() + "' -f '" + file + "'"
                       : "sqlite3 -bail '" + url().substr(url().find(':') + 1) + "' < '" + file + "'";
#ifdef ROWLOCK_TEST_MYSQL
    if (has_mysql_dialect(GetParam()))
      command = mysql_client_command(GetParam(), url()) + " < '" + file + "'";
#endif
    return command_process{{"sh", "-c", command}, {}}.wait();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path()}) {
      result.push_back(entry.path().filename());
    }
    std::ranges::sort(result);
    return result;
  }
  std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  // A line for each migration, such as "applied 0001_locks\n", in ascending order.
  static std::string each(const std::string& done) {
    std::string lines;
    for (const auto& name : migration_names()) lines += done + ' ' + name + '\n';
    return lines;
  }

  std::string prefix_ = "m" + model::id128::random().to_string().substr(0, 12) + "_";
  temporary_folder folder_;
};

TEST_P(migrate_command_test, up_and_down_say_what_they_do) {
  EXPECT_EQ(migrate({"up", "--dry-run"}).out, each("to be applied"));
  EXPECT_EQ(migrate({"up"}).out, each("applied"));
  EXPECT_EQ(migrate({"up"}).out, "the schema is up to date\n");
  EXPECT_EQ(migrate({"up", "--to", "1"}).out, "there is nothing to apply up to version 1\n");
  EXPECT_EQ(migrate({"verify"}).exit_code, 0);
  EXPECT_THAT(migrate({"status"}).out, testing::MatchesRegex("VERSION[^\n]*\n0001 +locks +applied +20[^\n]*\n"
                                                             "0002 +seconds +applied +20[^\n]*\n(.|\n)*"));

  const auto names = migration_names();
  for (auto at = names.size() - 1; at > 0; --at) {
    EXPECT_EQ(migrate({"down"}).out, "reverted " + names[at] + '\n');
  }
  const auto refused = migrate({"down"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("--destroy-tokens"));
  EXPECT_EQ(migrate({"down", "--destroy-tokens", "--dry-run"}).out, "to be reverted 0001_locks\n");
  EXPECT_EQ(migrate({"down", "--destroy-tokens"}).out, "reverted 0001_locks\n");
  EXPECT_EQ(migrate({"down"}).out, "there is nothing to revert\n");
}

TEST_P(migrate_command_test, what_only_reads_needs_no_right_to_write) {
  // Only PostgreSQL takes a setting from the environment. On the others the commands must at least succeed.
  const bool may_write = GetParam() != "postgres";
  auto variables = environment();
  variables["PGOPTIONS"] = "-c default_transaction_read_only=on";
  for (const auto& line : std::vector<words>{{"migrate", "up", "--dry-run"},
                                             {"migrate", "down", "--dry-run"},
                                             {"migrate", "adopt", "--dry-run"},
                                             {"epoch"},
                                             {"epoch", "show"},
                                             {"epoch", "skew"}}) {
    const auto result = start_rowlock(line, variables)->wait();
    EXPECT_EQ(result.exit_code, 0) << testing::PrintToString(line) << result.err;
  }
  EXPECT_EQ(start_rowlock({"migrate", "up"}, variables)->wait().exit_code == 0, may_write);
}

TEST_P(migrate_command_test, tells_programs_the_same) {
  EXPECT_EQ(migrate_json({"up"}).at(0).at("version"), 1);
  EXPECT_THAT(migrate_json({"up"}), IsEmpty());
  const auto line = migrate_json({"status"}).at(0);
  EXPECT_EQ(line.at("title"), "locks");
  EXPECT_EQ(line.at("applied"), true);
  EXPECT_EQ(line.at("recorded"), true);
  EXPECT_THAT(migrate_json({"verify"}), IsEmpty());
}

TEST_P(migrate_command_test, down_refuses_while_a_lease_lives) {
  migrate({"up"});
  {
    auto variables = environment();
    variables["ROWLOCK_PREFIX"] = prefix_;
    variables["ROWLOCK_URL"] = url();
    auto holder = start_rowlock({"run", "job", "--", "sh", "-c", "echo held; cat"}, variables);
    holder->read_line();
    const auto refused = take_down();
    EXPECT_EQ(refused.exit_code, 78);
    EXPECT_THAT(refused.err, HasSubstr("lease is in use"));
    EXPECT_EQ(holder->wait().exit_code, 0);
  }
  EXPECT_EQ(take_down().exit_code, 0);
}

TEST_P(migrate_command_test, says_in_words_that_the_schema_is_newer) {
  migrate({"up"});
  std::ofstream{path("newer.sql")} << "UPDATE " << prefix_ << "meta SET schema_version = " << newest + 1
                                   << ";\n";
  ASSERT_EQ(apply(path("newer.sql")).exit_code, 0);
  const auto up = migrate({"up"});
  EXPECT_EQ(up.exit_code, 0);
  EXPECT_THAT(up.err, HasSubstr(fmt::format("the schema has version {}, and this rowlock knows {}",
                                            newest + 1, newest)));
  EXPECT_THAT(migrate({"status"}).out, HasSubstr("newer than this rowlock; the two work together"));
  EXPECT_EQ(rowlock({"list", "--prefix", prefix_}).exit_code, 0);

  std::ofstream{path("forbid.sql")} << "UPDATE " << prefix_ << "meta SET min_library = " << newest + 1
                                    << ";\n";
  ASSERT_EQ(apply(path("forbid.sql")).exit_code, 0);
  EXPECT_THAT(migrate({"status"}).out, HasSubstr("which the schema forbids"));
  for (const auto& line : std::vector<words>{{"migrate", "up"}, {"list"}, {"run", "job", "--", "true"}}) {
    auto with_prefix = line;
    with_prefix.insert(with_prefix.begin(), {"--prefix", prefix_});
    const auto refused = rowlock(with_prefix);
    EXPECT_EQ(refused.exit_code, 78) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("knows {}", newest))) << line[0];
  }
  std::ofstream{path("back.sql")} << "UPDATE " << prefix_ << "meta SET schema_version = " << newest
                                  << ", min_library = 1;\n";
  ASSERT_EQ(apply(path("back.sql")).exit_code, 0);
}

TEST_P(migrate_command_test, sql_writes_files_that_the_databases_tool_applies) {
  EXPECT_EQ(migrate({"sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()}).exit_code, 0);
  ASSERT_EQ(names().size(), 2 * migration_names().size());
  EXPECT_EQ(names().front(), "0001_locks.down.sql");
  for (const auto& name : migration_names()) {
    const auto applied = apply(path(name + ".up.sql"));
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }
  EXPECT_EQ(migrate({"verify"}).exit_code, 0);
  EXPECT_EQ(migrate({"adopt"}).out, each("adopted"));
  EXPECT_EQ(migrate({"adopt"}).out, "the ledger is complete\n");
  auto downwards = migration_names();
  std::reverse(downwards.begin(), downwards.end());
  for (const auto& name : downwards) {
    const auto reverted = apply(path(name + ".down.sql"));
    EXPECT_EQ(reverted.exit_code, 0) << reverted.err;
  }
  EXPECT_EQ(migrate({"verify"}).exit_code, 78);
}

TEST_P(migrate_command_test, sql_writes_flyways_names) {
  EXPECT_EQ(
      migrate({"sql", "--dialect", dialect_of(GetParam()), "--format", "flyway", "--out", folder_.path()})
          .exit_code,
      0);
  ASSERT_EQ(names().size(), 2 * migration_names().size());
  EXPECT_EQ(names().front(), "U0001__" + prefix_ + "locks.sql");
  for (const auto& file : names()) {
    if (file.starts_with("U")) continue;  // the file reverts a migration
    EXPECT_EQ(apply(path(file)).exit_code, 0) << file;
  }
  EXPECT_EQ(migrate({"verify"}).exit_code, 0);
}

TEST_P(migrate_command_test, sql_prints_one_stream) {
  const auto result = migrate({"sql", "--dialect", dialect_of(GetParam())});
  std::ofstream{path("all.sql")} << result.out;
  EXPECT_EQ(apply(path("all.sql")).exit_code, 0);
  EXPECT_EQ(migrate({"verify"}).exit_code, 0);
}

TEST_P(migrate_command_test, sql_leaves_another_file_alone) {
  std::ofstream{path("0001_locks.up.sql")} << "mine";
  const auto refused = migrate({"sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()});
  EXPECT_EQ(refused.exit_code, 64);
  std::ifstream file{path("0001_locks.up.sql")};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "mine");
  std::filesystem::remove(path("0001_locks.up.sql"));
  EXPECT_EQ(migrate({"sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()}).exit_code, 0);
  EXPECT_EQ(migrate({"sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()}).out, "");
}

// The user's migration tool would apply a file that was cut short, and the next export would refuse it as a
// file that exists with other content.
TEST_P(migrate_command_test, sql_leaves_no_file_that_is_not_whole) {
  const auto result =
      command_process{{"sh", "-c", "ulimit -f 0; trap '' XFSZ; exec \"$0\" \"$@\"", ROWLOCK_COMMAND_PATH,
                       "migrate", "sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()},
                      environment()}
          .wait();
  EXPECT_EQ(result.exit_code, 70) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot write"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(migrate({"sql", "--dialect", dialect_of(GetParam()), "--out", folder_.path()}).exit_code, 0);
}

TEST_P(migrate_command_test, sql_needs_no_database) {
  const auto result = rowlock_alone({"migrate", "sql", "--dialect", dialect_of(GetParam())});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("rowlock_lock"));
}

TEST(migrate_sql, takes_the_names_that_urls_have) {
  for (const auto& [dialect, alias] : {std::pair{"postgres", "postgresql"}, {"mysql", "mariadb"}}) {
    if (selected_of({dialect}).empty()) continue;
    const auto result = rowlock_alone({"migrate", "sql", "--dialect", alias});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, rowlock_alone({"migrate", "sql", "--dialect", dialect}).out);
  }
}

TEST(migrate_status, of_a_missing_file_creates_none) {
  if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "sqlite is not selected";
  const temporary_folder folder;
  const auto file = folder.path() / "locks.db";
  const auto migrate = [&](words line) {
    line.insert(line.begin(), "migrate");
    return rowlock_alone(line, {{"ROWLOCK_URL", "sqlite:" + file.string()}});
  };
  const auto status = migrate({"status"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("pending"));
  EXPECT_EQ(migrate({"verify"}).exit_code, 78);
  EXPECT_EQ(migrate({"up", "--dry-run"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(migrate({"up"}).exit_code, 0);
  EXPECT_EQ(migrate({"verify"}).exit_code, 0);
}

TEST_P(migrate_command_test, sql_refuses_what_would_be_injected) {
  for (const std::string text : {"a;b", "x'y", "Upper", "1a", "a b", "\xc3\xa4"}) {
    for (const std::string option : {"--prefix", "--schema"}) {
      const auto result = rowlock_alone({"migrate", "sql", "--dialect", "postgres", option, text});
      EXPECT_EQ(result.exit_code, 64) << option << text;
      EXPECT_EQ(result.out, "");
    }
  }
  EXPECT_EQ(rowlock_alone({"migrate", "sql", "--dialect", "oracle"}).exit_code, 64);
  EXPECT_EQ(rowlock_alone({"migrate", "sql", "--dialect", "sqlite", "--schema", "s"}).exit_code, 64);
  EXPECT_EQ(rowlock_alone({"migrate", "sql", "--dialect", "sqlite", "--format", "odd"}).exit_code, 64);
}

ROWLOCK_FOR_EACH_SQL_STORE(migrate_command_test);

// A trigger of the user's on rowlock's tables inserts into a table, and then into a column, that is not
// there.
TEST_P(migrate_command_test, what_a_trigger_misses_is_not_a_missing_migration) {
  const auto audit = prefix_ + "somewhere";
  const auto note = "INSERT INTO " + audit + " (happening) VALUES ('grant')";
  const auto table = "CREATE TABLE " + audit + " (number INTEGER);\n";
  auto body = note;
  auto function = std::string{};
  if (GetParam() == "postgres") {
    function = "CREATE FUNCTION " + audit + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + note +
               "; RETURN NEW; END $$;\n";
    body = "EXECUTE FUNCTION " + audit + "()";
  } else if (GetParam() == "sqlite") {
    body = "BEGIN " + note + "; END";
  }
  ASSERT_EQ(migrate({"up"}).exit_code, 0);
  std::ofstream{path("trigger.sql")} << function << "CREATE TRIGGER " << audit << "_grant BEFORE INSERT ON "
                                     << prefix_ << "lock FOR EACH ROW " << body << ";\n";
  std::ofstream{path("table.sql")} << table;
  std::ofstream{path("clean.sql")} << "DROP TABLE " << audit << ";\n"
                                   << (function.empty() ? "" : "DROP FUNCTION " + audit + " CASCADE;\n");
  ASSERT_EQ(apply(path("trigger.sql")).exit_code, 0);

  for (const bool has_table : {false, true}) {
    if (has_table) {
      ASSERT_EQ(apply(path("table.sql")).exit_code, 0);
    }
    const auto result = rowlock({"--prefix", prefix_, "run", "job", "--", "true"});
    EXPECT_EQ(result.exit_code, 70) << result.err;
    EXPECT_THAT(result.err, HasSubstr(has_table ? "happening" : audit));
    EXPECT_THAT(result.err, Not(HasSubstr("migrate")));
  }
  EXPECT_EQ(apply(path("clean.sql")).exit_code, 0);
}

class search_path_test : public migrate_command_test {};

INSTANTIATE_TEST_SUITE_P(stores, search_path_test, testing::ValuesIn(selected_of({"postgres"})),
                         store_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(search_path_test);

TEST_P(search_path_test, without_a_schema_makes_up_fail_and_not_advise_itself) {
  for (const std::string search_path : {"", "no_such_schema"}) {
    auto url = store->url();
    url += (url.find('?') == std::string::npos ? "?" : "&") + ("options=-csearch_path%3D" + search_path);
    const auto result = rowlock_alone({"migrate", "--prefix", prefix_, "up"}, {{"ROWLOCK_URL", url}});
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr("create one, or name one that exists with --schema"));
    EXPECT_THAT(result.err, Not(HasSubstr("migrate up")));
  }
}

// The files restore the search_path of the tool that runs them.
TEST(migrate_sql, schema_is_used_and_left) {
  if (selected_of({"postgres"}).empty()) GTEST_SKIP() << "postgres is not selected";
  const std::string url = make_store_fixture("postgres")->url();
  const temporary_folder folder;
  const auto schema = "s" + model::id128::random().to_string().substr(0, 12);
  const auto psql = [&](const std::string& arguments) {
    return command_process{{"sh", "-c", "psql -XqAt -v ON_ERROR_STOP=1 '" + url + "' " + arguments}, {}}
        .wait();
  };
  psql("-c 'CREATE SCHEMA " + schema + "'");
  rowlock_alone({"migrate", "sql", "--dialect", "postgres", "--schema", schema, "--out", folder.path()});
  const auto file = [&](const std::string& name) { return " -f " + (folder.path() / name).string(); };
  std::string up, down;
  for (const auto& name : migration_names()) {
    up += file(name + ".up.sql");
    down = file(name + ".down.sql") + down;
  }
  for (const std::string transaction : {"", "-1 "}) {
    const auto applied =
        psql(transaction + "-c \"SET search_path = pg_catalog\"" + up + " -c 'SHOW search_path'");
    EXPECT_EQ(applied.exit_code, 0) << applied.err;
    EXPECT_EQ(applied.out, "pg_catalog\n");
  }
  const std::map<std::string, std::string> variables{{"ROWLOCK_URL", url}, {"ROWLOCK_SCHEMA", schema}};
  EXPECT_EQ(rowlock_alone({"migrate", "verify"}, variables).exit_code, 0);
  EXPECT_EQ(rowlock_alone({"run", "job", "--", "true"}, variables).exit_code, 0);
  EXPECT_EQ(psql(down).exit_code, 0);
  EXPECT_EQ(rowlock_alone({"migrate", "verify"}, variables).exit_code, 78);
  psql("-c 'DROP SCHEMA " + schema + " CASCADE' 2>&1");
}

TEST(migrate_grants, need_no_database_and_are_permissions_for_a_file) {
  const words rest{"--role", "app", "--as", "observe"};
  const auto grants = [&](words options) {
    options.insert(options.begin(), {"migrate", "grants"});
    options.insert(options.end(), rest.begin(), rest.end());
    return rowlock_alone(options);
  };
  const auto printed = grants({"--dialect", "postgres", "--prefix", "p_"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("GRANT USAGE ON SCHEMA \"public\" TO \"app\";\nGRANT SELECT ON \"public\".p_lease"));
  EXPECT_THAT(grants({"--dialect", "mariadb"}).out, HasSubstr("GRANT SELECT ON rowlock_lease TO `app`;\n"));
  EXPECT_THAT(grants({"--dialect", "sqlite"}).out, testing::StartsWith("-- SQLite has no roles"));
  EXPECT_EQ(grants({"--dialect", "oracle"}).exit_code, 64);
  EXPECT_EQ(rowlock_alone({"migrate", "grants", "--dialect", "mysql", "--role", "", "--as", "run"}).exit_code,
            64);
  const auto host = rowlock_alone({"migrate", "grants", "--dialect", "mysql", "--schema", "my_shop", "--role",
                                   "app@10.0.0.%", "--as", "migrate"});
  EXPECT_THAT(host.out, testing::EndsWith(" ON `my\\_shop`.* TO `app`@`10.0.0.%`;\n"));
}

}  // namespace rowlock::test
