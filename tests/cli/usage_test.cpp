#include "cli/cli_test.hpp"

#include "support/temporary_folder.hpp"

#include <fstream>

namespace rowlock::test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// None of these command lines needs a database.
TEST(usage, is_64_and_says_what_is_wrong) {
  const std::vector<words> wrong{{},
                                 {"lisst"},
                                 {"list", "extra"},
                                 {"show"},
                                 {"show", "a", "b"},
                                 {"list", "--colour"},
                                 {"list", "--url"},
                                 {"migrate"},
                                 {"migrate", "sideways"},
                                 {"migrate", "up", "--to", "one"},
                                 {"run", "job", "true"},
                                 {"list", "-q", "-v"},
                                 {"list"},
                                 {"list", "--url", "oracle://h/db"},
                                 {"list", "--url", "no url"},
                                 {"list", "--url", "sqlite:"},
                                 {"list", "--url", "sqlite:x.db", "--prefix", "a;b"},
                                 {"list", "--url", "sqlite:x.db", "--prefix", "Upper_"},
                                 {"list", "--url", "sqlite:x.db", "--schema", "a'b"}};
  for (const auto& line : wrong) {
    const auto result = rowlock_alone(line);
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(line) << result.err;
    EXPECT_THAT(result.err, StartsWith("rowlock: ")) << testing::PrintToString(line);
    EXPECT_EQ(result.out, "");
  }
}

TEST(usage, a_count_is_a_whole_number_above_0) {
  for (const std::string count : {"0", "-1", "many", "1.5", "99999999999999999999"}) {
    const auto result = rowlock_alone({"list", "--limit", count});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_THAT(result.err, HasSubstr("--limit: '" + count + "' is not a whole number above 0"));
  }
}

// Otherwise a script whose variable is empty would release the lock of every holder, or wait for ever.
TEST(usage, an_empty_value_is_not_taken_as_none) {
  const std::vector<words> lines{{"release", "job", "--force", "--hold"},
                                 {"run", "job", "--wait"},
                                 {"run", "job", "--delay"},
                                 {"run", "job", "--at-most"},
                                 {"run", "job", "--min-hold"},
                                 {"run", "job", "--kill-after"},
                                 {"epoch", "raise", "--above"},
                                 {"migrate", "down", "--to"},
                                 {"list", "--limit"},
                                 {"list", "--url"},
                                 {"list", "--prefix"},
                                 {"list", "--schema"},
                                 {"list", "--listen-url"},
                                 {"list", "--application"}};
  const auto refused = [](words line, const std::string& name) {
    if (line[0] == "run") line.insert(line.end(), {"--", "true"});
    const auto result = rowlock_alone(line, {{"ROWLOCK_URL", "sqlite:/nowhere/rowlock.db"}});
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(line) << result.err;
    EXPECT_THAT(result.err, HasSubstr(name + ": an empty value")) << testing::PrintToString(line);
  };
  for (const auto& line : lines) {
    auto apart = line;
    apart.emplace_back("");
    refused(apart, line.back());
    auto joined = line;
    joined.back() += '=';
    refused(joined, line.back());
  }
  refused({"epoch", "skew", ""}, "DURATION");
  refused({"list", ""}, "PATTERN");
}

TEST(usage, an_unknown_command_is_named) {
  EXPECT_THAT(rowlock_alone({"lisst"}).err, HasSubstr("'lisst'"));
}

TEST(usage, unexpected_arguments_are_named_in_their_order) {
  EXPECT_THAT(rowlock_alone({"list", "a", "b"}).err, StartsWith("rowlock: unexpected argument: b\n"));
  EXPECT_THAT(rowlock_alone({"list", "a", "b", "--colour", "c"}).err,
              StartsWith("rowlock: unexpected arguments: b --colour c\n"));
  EXPECT_THAT(rowlock_alone({"migrate", "up", "b", "--colour", "c"}).err,
              StartsWith("rowlock: unexpected arguments: b --colour c\n"));
}

TEST(usage, a_command_without_its_dashes_is_told_where_to_stand) {
  for (const auto& line : std::vector<words>{{"run", "job", "true"}, {"run", "job", "sh", "-c", "true"}}) {
    const auto result = rowlock_alone(line);
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_THAT(result.err, HasSubstr("rowlock run NAME -- COMMAND")) << result.err;
  }
}

TEST(usage, a_url_file_that_is_a_folder_is_told_so) {
  const temporary_folder folder;
  const auto result = rowlock_alone({"list"}, {{"ROWLOCK_URL_FILE", folder.path()}});
  EXPECT_EQ(result.exit_code, 64) << result.err;
  EXPECT_THAT(result.err, HasSubstr("is a folder"));
}

TEST(usage, quickstart_names_the_program_that_is_missing) {
  const auto result =
      start_program(ROWLOCK_SOURCE_DIR "/scripts/quickstart", {"--build", "/nosuch"}, {})->wait();
  EXPECT_EQ(result.exit_code, 64);
  EXPECT_THAT(result.err, HasSubstr("there is no /nosuch/rowlock; build it"));
}

TEST(usage, a_url_file_may_begin_with_a_byte_order_mark) {
  if (selected_of({"sqlite"}).empty()) GTEST_SKIP() << "sqlite is not selected";
  const temporary_folder folder;
  const auto file = (folder.path() / "url").string();
  std::ofstream{file} << "\xEF\xBB\xBFsqlite:" << folder.path().string() << "/locks.db\n";
  const auto result = rowlock_alone({"migrate", "up"}, {{"ROWLOCK_URL_FILE", file}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(usage, rowlock_below_rowlock_is_told_where_its_url_is) {
  const auto inner = rowlock_alone({"list"}, {{"ROWLOCK_NAME", "job"}, {"ROWLOCK_TOKEN", "7"}});
  EXPECT_EQ(inner.exit_code, 64);
  EXPECT_THAT(inner.err, HasSubstr("rowlock run takes ROWLOCK_URL"));
  EXPECT_THAT(rowlock_alone({"list"}).err, Not(HasSubstr("rowlock run takes")));
}

TEST(usage, a_port_that_is_no_number_is_told_so) {
  words urls;
  if (!selected_of({"postgres"}).empty()) {
    urls = {"postgresql://u:hush@h:port/db", "postgresql://u:hush@h:0/db", "postgresql://u:hush@h:99999/db",
            "postgresql://u:hush@a:5432,b:x/db"};
  }
  if (!selected_of({"mariadb", "mysql"}).empty()) urls.push_back("mysql://u:hush@h:port/db");
  if (urls.empty()) GTEST_SKIP() << "no store with a server is selected";
  for (const auto& url : urls) {
    const auto result = rowlock_alone({"list"}, {{"ROWLOCK_URL", url}});
    EXPECT_EQ(result.exit_code, 64) << url << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("port")) << url;
    EXPECT_THAT(result.err, Not(HasSubstr("hush")));
  }
}

TEST(usage, passwords_are_not_repeated) {
  const std::vector<words> lines{{"list", "postgresql://user:hush@host/db"},
                                 {"postgresql://user:hush@host/db", "list"},
                                 {"list", "--url", "oracle://user:hush@host/db"},
                                 {"list", "host=h password=hush"},
                                 {"list", "--url", "postgresql://user:hush@127.0.0.1:1/db?connect_timeout=1"},
                                 {"list", "--url", "postgresql://user:hush@127.0.0.1:port/db"},
                                 {"list", "-v", "--url", "postgresql://127.0.0.1:1/db?user=u&password=hush"}};
  for (const auto& line : lines) {
    const auto result = rowlock_alone(line);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, Not(HasSubstr("hush"))) << testing::PrintToString(line);
  }
}

class options_test : public cli_test {};

TEST_P(options_test, global_options_stand_before_or_after) {
  const auto url = store->url();
  const auto prefix = store->options().prefix;
  for (const auto& line : std::vector<words>{{"--url", url, "--prefix", prefix, "--json", "list"},
                                             {"list", "--url", url, "--prefix", prefix, "--json"},
                                             {"--url=" + url, "list", "--prefix=" + prefix, "--json"},
                                             {"epoch", "show", "--url", url, "--prefix", prefix, "--json"}}) {
    const auto result = rowlock_alone(line);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("["));
  }
}

TEST_P(options_test, a_text_may_be_empty) {
  for (const auto& line : std::vector<words>{{"run", "job", "--data", "", "--", "true"},
                                             {"run", "job", "--data=", "--", "true"},
                                             {"elect", "office", "--value", "", "--", "true"},
                                             {"release", "job", "--ask", "--reason", ""}}) {
    const auto result = rowlock(line);
    EXPECT_EQ(result.exit_code, 0) << testing::PrintToString(line) << result.err;
  }
}

TEST_P(options_test, the_url_is_looked_for_in_order) {
  const temporary_folder folder;
  const auto file = (folder.path() / "url").string();
  std::ofstream{file} << " \n" << store->url() << "\r\n\n";
  const auto prefix = store->options().prefix;
  const auto run = [&](const words& line, const std::string& url, const std::string& url_file) {
    return rowlock_alone(line,
                         {{"ROWLOCK_URL", url}, {"ROWLOCK_URL_FILE", url_file}, {"ROWLOCK_PREFIX", prefix}})
        .exit_code;
  };
  EXPECT_EQ(run({"list"}, "", file), 0);
  EXPECT_EQ(run({"list"}, store->url(), "/nowhere"), 0);
  EXPECT_EQ(run({"list"}, "oracle://x", file), 64);
  EXPECT_EQ(run({"list", "--url", store->url()}, "oracle://x", "/nowhere"), 0);
  EXPECT_EQ(run({"list"}, "", "/nowhere"), 64);
  std::ofstream{file} << "\n";
  EXPECT_EQ(run({"list"}, "", file), 64);
}

TEST_P(options_test, quiet_keeps_errors_only) {
  EXPECT_EQ(rowlock({"list", "-q"}).err, "");
  EXPECT_EQ(rowlock({"show", "none", "-q"}).err, "");
  EXPECT_EQ(rowlock({"show", "none", "-q"}).exit_code, 1);
  EXPECT_NE(rowlock({"gc", "-q"}).err, "");
}

TEST_P(options_test, output_that_cannot_be_written_is_an_error) {
  const auto result =
      command_process{{"sh", "-c", "exec \"$0\" epoch > /dev/full", ROWLOCK_COMMAND_PATH}, environment()}
          .wait();
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_THAT(result.err, HasSubstr("standard output"));
}

TEST_P(options_test, help_that_cannot_be_written_is_an_error) {
  for (const std::string asked : {"--help", "--version"}) {
    const auto result = start_redirected(">/dev/full", {asked})->wait();
    EXPECT_EQ(result.exit_code, 70) << asked;
    EXPECT_THAT(result.err, HasSubstr("standard output cannot be written"));
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(options_test);

}  // namespace rowlock::test
