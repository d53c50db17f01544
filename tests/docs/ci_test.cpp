// The commands of docs/ci.md run, in their order, on each SQL store; the jobs use the URLs of roles with the rights
// that the page names.
#include "cli/cli_test.hpp"
#include "docs/page_blocks.hpp"
#include "docs/shell.hpp"
#include "migrate/blank_database.hpp"
#include "model/ids.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace rowlock::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One `run:`, or one line of `script:`.
struct ci_step {
  std::string url;     // MIGRATOR_URL or APP_URL; empty: the job has none
  std::string script;  // for bash -e
};

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// The steps of a page's block, which is written with two spaces for each level.
std::vector<ci_step> steps_of(const std::vector<std::string>& lines) {
  std::vector<ci_step> steps;
  std::string url;
  std::size_t list = 0;   // the indentation of "script:", while its lines follow
  std::size_t block = 0;  // the indentation of "run: |"
  for (const auto& line : lines) {
    const auto indent = indent_of(line);
    const auto text = line.substr(indent);
    if (block > 0 && indent > block) {
      steps.back().script += text + '\n';
      continue;
    }
    block = 0;
    if (list > 0 && indent > list && text.starts_with("- ")) {
      steps.push_back({url, text.substr(2)});
      continue;
    }
    list = 0;
    if (text == "script:" || text == "before_script:") list = indent;
    if (text == "run: |") {
      block = indent;
      steps.push_back({url, ""});
    } else if (text.starts_with("run: ")) {
      steps.push_back({url, text.substr(5)});
    }
    if (text.starts_with("ROWLOCK_URL: "))
      url = text.find("MIGRATOR_URL") == std::string::npos ? "APP_URL" : "MIGRATOR_URL";
  }
  return steps;
}

class ci_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const std::string name : {"sudo", "apt-get", "deploy.sh"}) {
      const auto path = folder.path() / name;
      std::ofstream{path} << "#!/bin/sh\n"
                          << (name == "sudo" ? "exec \"$@\"\n"
                                             : "echo " + name + " \"$@\" >>'" + log().string() + "'\n");
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    if (!has_roles()) return;
    for (const auto& role : roles) db.run("CREATE " + kind() + ' ' + role + " " + password());
    db.run(grants(roles.at(0), "migrate"));
  }
  void TearDown() override {
    if (!has_roles()) return;
    for (const auto& role : roles) {
      if (GetParam() == "postgres") db.run("DROP OWNED BY " + role + " CASCADE");
      db.run("DROP " + kind() + ' ' + role);
    }
  }

  bool has_roles() const { return GetParam() != "sqlite"; }
  std::string kind() const { return has_mysql_dialect(GetParam()) ? "USER" : "ROLE"; }
  std::string password() const { return has_mysql_dialect(GetParam()) ? "IDENTIFIED BY 'secret'" : "LOGIN"; }
  std::filesystem::path log() const { return folder.path() / "log"; }

  std::string schema() const {
    return has_mysql_dialect(GetParam()) ? db.url().substr(db.url().rfind('/') + 1) : db.settings().schema;
  }
  std::string grants(const std::string& role, const std::string& use) const {
    return rowlock_alone({"migrate", "grants", "--dialect", dialect_of(GetParam()), "--schema", schema(),
                          "--role", role, "--as", use})
        .out;
  }
  std::string url_of(const std::string& role) const {
    const auto whole = db.url();
    if (!has_roles()) return whole;
    return whole.substr(0, whole.find("//") + 2) + role + (has_mysql_dialect(GetParam()) ? ":secret" : "") +
           whole.substr(whole.find('@'));
  }
  // The command lines with which the stand-ins were called.
  std::vector<std::string> called() const {
    std::vector<std::string> lines;
    std::ifstream file{log()};
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  // Runs the steps of a section, each in a shell of its own, as GitHub and GitLab do.
  void run_section(const std::string& section) {
    std::vector<ci_step> steps;
    for (const auto& block : blocks_of("docs/ci.md")) {
      if (block.section != section) continue;
      EXPECT_EQ(block.language, "yaml");
      steps = steps_of(block.lines);
    }
    ASSERT_GE(steps.size(), 3U) << section;
    for (const auto& step : steps) {
      std::map<std::string, std::string> environment{{"ROWLOCK_SCHEMA", db.settings().schema},
                                                     {"ROWLOCK_PREFIX", ""},
                                                     {"ROWLOCK_URL_FILE", ""},
                                                     {"GITHUB_ENV", (folder.path() / "variables").string()}};
      // The page on upgrading puts the grants between the migration and the deploy.
      if (step.url == "APP_URL" && has_roles() && !std::exchange(granted, true))
        db.run(grants(roles.at(1), "run"));
      environment["ROWLOCK_URL"] = url_of(roles.at(step.url == "MIGRATOR_URL" ? 0 : 1));
      const auto result = start_with_rowlock_in_path(
                              {"bash", "-ec",
                               "cd '" + folder.path().string() +
                                   "'; PATH=$PWD:$PATH; [ ! -e variables ] || . ./variables; " + step.script},
                              environment)
                              ->wait();
      EXPECT_EQ(result.exit_code, 0) << step.script << '\n' << result.out << result.err;
    }
  }

  temporary_folder folder;
  blank_database db{GetParam()};
  const std::string name = "ci" + model::id128::random().to_string().substr(0, 10);
  const std::vector<std::string> roles{name + "_migrator", name + "_app"};
  bool granted = false;
};

TEST_P(ci_test, those_of_github_actions_migrate_verify_and_deploy) {
  run_section("GitHub Actions");
  EXPECT_THAT(called(), ElementsAre("apt-get update", HasSubstr("install -y ./packages/rowlock"),
                                    "apt-get update", HasSubstr("./packages/librowlock-"), "deploy.sh"));
  EXPECT_EQ(migrator(db.url(), db.settings()).verify(), std::vector<std::string>{});
}

TEST_P(ci_test, those_of_gitlab_ci_migrate_verify_and_deploy) {
  run_section("GitLab CI");
  EXPECT_THAT(called(), ElementsAre("apt-get update", HasSubstr("./packages/librowlock-"), "deploy.sh"));
  EXPECT_EQ(migrator(db.url(), db.settings()).verify(), std::vector<std::string>{});
}

TEST_P(ci_test, a_lock_is_taken_in_one_step_and_released_in_another) {
  migrator(db.url(), db.settings()).up();
  if (has_roles()) db.run(grants(roles.at(1), "run"));
  granted = true;
  run_section("Steps that cannot wrap one command");
  EXPECT_THAT(called(), ElementsAre("deploy.sh"));
  const auto again = connect(db.url(), db.settings());
  EXPECT_TRUE(mutex(again, "deploy/production").try_acquire());
}

ROWLOCK_FOR_EACH_SQL_STORE(ci_test);

}  // namespace
}  // namespace rowlock::test
