#include "migrate/shipped.hpp"

#include "migrate/expectation.hpp"
#include "migrate/migrate_test.hpp"
#include "store/open.hpp"
#include "store/registry.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>

namespace rowlock::test {

using testing::HasSubstr;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string sha256sum(const std::filesystem::path& path) {
  FILE* pipe = ::popen(("sha256sum '" + path.string() + "'").c_str(), "r");
  char sum[65]{};
  const bool read = pipe && std::fread(sum, 1, 64, pipe) == 64;
  if (pipe) ::pclose(pipe);
  return read ? sum : "";
}

std::string file_name(const migration& file, const std::string& half) {
  char number[8];
  std::snprintf(number, sizeof number, "%04d", file.version);
  return std::string{number} + "_" + file.title + "." + half + ".sql";
}

}  // namespace

class shipped_test : public migrate_test {};

TEST_P(shipped_test, files_are_embedded_with_their_checksums) {
  const auto files = shipped_migrations(dialect_of(GetParam()));
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(files.back().version, required_schema_version());
  for (const auto& file : files) {
    const auto up = db.migrations() / file_name(file, "up");
    EXPECT_EQ(file.up, text_of(up));
    EXPECT_EQ(file.down, text_of(db.migrations() / file_name(file, "down")));
    EXPECT_EQ(file.checksum, sha256sum(up));
  }
}

// The tool that runs a file begins and ends the transaction. A wait for a lock must have a limit.
TEST_P(shipped_test, files_suit_any_tool) {
  static const std::regex transaction{R"((^|;)\s*(BEGIN|COMMIT|ROLLBACK|START TRANSACTION)\b)",
                                      std::regex::icase};
  for (const auto& file : shipped_migrations(dialect_of(GetParam()))) {
    for (const auto& sql : {file.up, file.down}) {
      EXPECT_FALSE(std::regex_search(sql, transaction)) << sql;
      EXPECT_THAT(sql, HasSubstr("timeout"));
    }
  }
}

TEST_P(shipped_test, no_name_escapes_the_prefix) {
  const auto files = shipped_migrations(dialect_of(GetParam()), "other_");
  for (const auto& file : files) {
    for (const auto& sql : {file.up, file.down}) {
      EXPECT_THAT(sql, testing::Not(HasSubstr("rowlock_")));
      EXPECT_THAT(sql, HasSubstr("other_meta")) << "each records its version";
    }
  }
  ASSERT_FALSE(files.empty());
  EXPECT_THAT(files.front().up, HasSubstr("other_lock"));
  EXPECT_THAT(files.front().down, HasSubstr("other_lock"));
}

TEST_P(shipped_test, schema_file_equals_what_the_migrations_produce) {
  db.run_file(db.schema_file());
  blank_database migrated{GetParam()};
  migrator{migrated.url(), migrated.settings()}.up();
  EXPECT_EQ(db.describe(), migrated.describe());
}

// A migration that changes the schema changes schema/<dialect>.sql too.
TEST_P(shipped_test, expected_schema_equals_what_the_migrations_produce) {
  open().up();
  EXPECT_EQ(db.describe(), migrate::expected_schema(dialect_of(GetParam())));
}

ROWLOCK_FOR_EACH_SQL_STORE(shipped_test);

TEST(shipped, same_numbers_and_titles_in_all_dialects) {
  const auto dialects = store::linked_dialects();
  ASSERT_FALSE(dialects.empty());
  const auto first = shipped_migrations(dialects.front());
  for (const auto& dialect : dialects) {
    const auto files = shipped_migrations(dialect);
    ASSERT_EQ(files.size(), first.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(files[i].title, first[i].title);
      if (files[i].version < 3) continue;  // the older ones have no time of creation
      EXPECT_TRUE(files[i].up.starts_with("-- Made at 20")) << dialect << ": " << files[i].title;
      EXPECT_EQ(files[i].up.substr(0, files[i].up.find('\n')), first[i].up.substr(0, first[i].up.find('\n')));
    }
  }
}

TEST(shipped, an_unknown_dialect_is_refused_with_those_there_are) {
  const auto problem = error_of([] { std::ignore = shipped_migrations("oracle"); });
  EXPECT_EQ(problem.code(), errc::invalid_argument);
  EXPECT_THAT(problem.what(), HasSubstr(store::linked_dialects().front()));
}

TEST(shipped, file_names_are_checked) {
  const std::vector<std::vector<embedded::file>> sets{
      {{"0001_a.up", "x", ""}},                            // no down half
      {{"0002_a.up", "x", ""}, {"0002_a.down", "x", ""}},  // no migration 1
      {{"a.up", "x", ""}},                                 // no number
      {{"0001_a.sideways", "x", ""}},                      // neither half
      {{"0001_a", "x", ""}},                               // no half
      {{"0000_a.up", "x", ""}, {"0000_a.down", "x", ""}},  // numbers begin at 1
  };
  for (const auto& set : sets) {
    EXPECT_EQ(error_of([&] { migrate::pair_files(set, "rowlock_"); }).code(), errc::internal) << set[0].name;
  }
}

}  // namespace rowlock::test
