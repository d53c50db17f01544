#include "cli/cli_test.hpp"
#include "cli/full_pipe.hpp"
#include "cli/terminal_process.hpp"

namespace rowlock::test {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class watch_test : public cli_test {};

TEST_P(watch_test, prints_a_line_for_each_change) {
  auto holder = hold("billing/a");
  auto watching = start({"watch", "billing/*", "--interval", "100ms"});
  EXPECT_THAT(
      watching->read_line(),
      MatchesRegex("20[0-9T:-]+Z  billing/a  held by .+:[0-9]+ rowlock run: sh since 20[0-9T:-]+Z, token "
                   "[0-9]+"));
  auto waiter = wait_for("billing/a");
  EXPECT_THAT(watching->read_line(), HasSubstr(", 1 waiting"));
  holder->close_input();
  EXPECT_EQ(holder->wait().exit_code, 0);
  EXPECT_EQ(waiter->wait().exit_code, 0);
  for (std::string line; line.find("  free") == std::string::npos;) line = watching->read_line();
  rowlock({"gc", "--idle", "0"});
  EXPECT_THAT(watching->read_line(), MatchesRegex("20[0-9T:-]+Z  billing/a  gone"));
  watching->send(SIGTERM);
  EXPECT_EQ(watching->wait().exit_code, 128 + SIGTERM);
}

TEST_P(watch_test, tells_programs_one_object_per_line) {
  auto watching = start({"watch", "--held", "--json", "--interval", "100ms"});
  auto holder = hold("job");
  const auto seen = nlohmann::json::parse(watching->read_line());
  EXPECT_EQ(seen.at("change"), "seen");
  EXPECT_EQ(seen.at("name"), "job");
  EXPECT_EQ(seen.at("lock").at("holders").at(0).at("pid"), holder->pid());
  holder->close_input();
  const auto gone = nlohmann::json::parse(watching->read_line());
  EXPECT_EQ(gone.at("change"), "gone") << "it is not held any more";
  EXPECT_FALSE(gone.contains("lock"));
  watching->send(SIGINT);
  EXPECT_EQ(watching->wait().exit_code, 128 + SIGINT);
}

TEST_P(watch_test, ends_when_nobody_reads) {
  rowlock({"run", "a", "--", "true"});
  const auto result =
      command_process{
          {"bash", "-c", "set -o pipefail; \"$0\" watch --interval 100ms | head -1", ROWLOCK_COMMAND_PATH},
          environment()}
          .wait();
  EXPECT_EQ(result.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
  EXPECT_EQ(result.err, "");
}

TEST_P(watch_test, ends_when_its_output_cannot_be_written) {
  rowlock({"run", "a", "--", "true"});
  const auto result = start_redirected(">/dev/full", {"watch", "--interval", "100ms"})->wait();
  EXPECT_EQ(result.exit_code, 70);
  EXPECT_EQ(result.err, "rowlock: standard output cannot be written\n");
}

TEST_P(watch_test, draws_a_table_in_a_terminal_and_restores_it) {
  auto holder = hold("billing/" + std::string(100, 'x'));
  for (const std::string key : {"q", "\x03"}) {
    terminal_process watching{{"watch", "--interval", "100ms"}, environment(), 60};
    const auto first = watching.read_until("billing/");
    EXPECT_THAT(first, HasSubstr("\x1b[?1049h"));
    EXPECT_THAT(first, ContainsRegex("NAME +KIND"));
    const auto again = watching.read_until("\x1b[J");
    EXPECT_THAT(again, Not(HasSubstr(std::string(60, 'x')))) << "cut to the terminal's width";
    EXPECT_FALSE(watching.is_restored()) << "each key is read at once";
    watching.press("x" + key);
    EXPECT_EQ(watching.exit_code(), 0);
    EXPECT_TRUE(watching.is_restored());
  }
  terminal_process watching{{"watch"}, environment(), 60};
  watching.read_until("billing/");
  watching.send(SIGTERM);
  EXPECT_THAT(watching.read_until("\x1b[?1049l"), HasSubstr("\x1b[?25h")) << "the screen from before";
  EXPECT_EQ(watching.exit_code(), 128 + SIGTERM);
  EXPECT_TRUE(watching.is_restored());
}

TEST_P(watch_test, is_ended_by_a_signal_although_nobody_reads_its_output) {
  rowlock({"run", "a", "--", "true"});
  const full_pipe full;
  for (const auto& options : {words{}, words{"--json"}}) {
    words line{"watch", "--interval", "100ms"};
    line.insert(line.end(), options.begin(), options.end());
    auto watching = start_redirected(">" + full.path(), line);
    eventually("it writes", [&] { return is_in_write(watching->pid()); });
    watching->send(SIGTERM);
    EXPECT_EQ(watching->wait().exit_code, 128 + SIGTERM);
  }
}

TEST_P(watch_test, restores_a_terminal_whose_output_was_stopped) {
  rowlock({"run", "billing", "--", "true"});
  for (const std::string end : {"q", "a signal"}) {
    terminal_process watching{{"watch", "--interval", "100ms"}, environment(), 60};
    watching.read_until("billing");
    watching.press("\x13");  // Ctrl-S
    eventually("it writes", [&] { return is_in_write(watching.pid()); });
    end == "q" ? watching.press("q") : watching.send(SIGTERM);
    EXPECT_THAT(watching.read_until("\x1b[?1049l"), HasSubstr("\x1b[?25h")) << end;
    EXPECT_EQ(watching.exit_code(), end == "q" ? 0 : 128 + SIGTERM);
    EXPECT_TRUE(watching.is_restored());
  }
}

TEST_P(watch_test, is_ended_by_a_signal_in_a_terminal_that_nobody_reads) {
  rowlock({"run", "billing", "--", "true"});
  terminal_process watching{{"watch", "--interval", "100ms"}, environment(), 60};
  watching.read_until("billing");
  watching.fill();
  eventually("it writes", [&] { return is_in_write(watching.pid()); });
  watching.send(SIGTERM);
  EXPECT_EQ(watching.exit_code_unread(), 128 + SIGTERM);
  EXPECT_TRUE(watching.is_restored());
}

TEST_P(watch_test, refuses_wrong_words) {
  EXPECT_EQ(rowlock({"watch", "--interval", "1ms"}).exit_code, 64);
  EXPECT_EQ(rowlock({"watch", "--interval", "soon"}).exit_code, 64);
  EXPECT_EQ(rowlock({"watch", "a", "b"}).exit_code, 64);
  EXPECT_EQ(rowlock_alone({"watch"}).exit_code, 64) << "no database";
}

ROWLOCK_FOR_EACH_SQL_STORE(watch_test);

}  // namespace rowlock::test
