#include "cli/cli_test.hpp"
#include "cli/full_pipe.hpp"
#include "support/descriptors.hpp"

#include <csignal>

namespace rowlock::test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class run_test : public cli_test {};

TEST_P(run_test, passes_the_commands_exit_code_on) {
  for (const int code : {0, 1, 3, 75, 255}) {
    EXPECT_EQ(rowlock({"run", "job", "--", "sh", "-c", "exit " + std::to_string(code)}).exit_code, code);
  }
}

TEST_P(run_test, passes_input_and_output_through) {
  const auto result = rowlock({"run", "job", "-q", "--", "sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST_P(run_test, passes_every_word_as_it_is) {
  const auto result =
      rowlock({"run", "job", "--", "printf", "%s|", "[a,b]", "--", "--json", "-h", "", "a b"});
  EXPECT_EQ(result.out, "[a,b]|--|--json|-h||a b|");
}

TEST_P(run_test, tells_the_command_its_name_and_token) {
  const auto result = rowlock({"run", "ein Name", "--", "sh", "-c", "echo $ROWLOCK_NAME $ROWLOCK_TOKEN"});
  const auto token = json_of({"show", "ein Name"}).at(0).at("token").get<long long>();
  EXPECT_EQ(result.out, "ein Name " + std::to_string(token) + "\n");
}

TEST_P(run_test, tokens_rise) {
  long long last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto token = std::stoll(rowlock({"run", "job", "--", "sh", "-c", "echo $ROWLOCK_TOKEN"}).out);
    EXPECT_GT(token, last);
    last = token;
  }
}

TEST_P(run_test, hides_the_url_from_the_command) {
  auto variables = environment();
  variables["ROWLOCK_URL_FILE"] = "/nowhere";
  variables["ROWLOCK_LISTEN_URL"] = "postgresql://app:hush@db/shop";
  variables["ROWLOCK_TOKEN"] = "7";
  const auto result = start_rowlock({"run", "job", "--", "env"}, variables)->wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, Not(HasSubstr("ROWLOCK_URL")));
  EXPECT_THAT(result.out, Not(HasSubstr("ROWLOCK_LISTEN_URL")));
  EXPECT_THAT(result.out, Not(HasSubstr("ROWLOCK_TOKEN=7\n")));
  EXPECT_THAT(result.out, HasSubstr("PATH="));
}

TEST_P(run_test, keeps_the_lock_for_its_minimum_time) {
  EXPECT_EQ(rowlock({"run", "job", "--min-hold", "1h", "--", "true"}).exit_code, 0);
  EXPECT_EQ(rowlock({"run", "job", "--no-wait", "--", "true"}).exit_code, 75);
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(rowlock({"run", "job", "--no-wait", "--", "true"}).exit_code, 0);
}

TEST_P(run_test, stores_delay_and_fairness_with_the_name) {
  EXPECT_EQ(rowlock({"run", "job", "--unfair", "--delay", "15s", "--", "true"}).exit_code, 0);
  EXPECT_FALSE(json_of({"show", "job"}).at(0).at("fair").get<bool>());
  const auto fair = rowlock({"run", "job", "--", "true"});
  EXPECT_EQ(fair.exit_code, 64);
  EXPECT_THAT(fair.err, HasSubstr("unfair mutex"));
}

TEST_P(run_test, says_as_the_shell_what_cannot_be_run) {
  const auto missing = rowlock({"run", "job", "--", "/no/such/command"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.err, HasSubstr("rowlock: cannot run '/no/such/command'"));
  EXPECT_EQ(rowlock({"run", "job", "--", "no-such-command-in-path"}).exit_code, 127);
  EXPECT_EQ(rowlock({"run", "job", "--", "/etc/passwd"}).exit_code, 126);
  EXPECT_EQ(rowlock({"run", "job", "--", "/"}).exit_code, 126);
  EXPECT_EQ(json_of({"show", "job"}).at(0).at("in_use"), 0);
}

TEST_P(run_test, says_as_the_shell_which_signal_ended_it) {
  EXPECT_EQ(rowlock({"run", "job", "--", "sh", "-c", "kill -KILL $$"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(rowlock({"run", "job", "--", "sh", "-c", "kill -USR1 $$"}).exit_code, 128 + SIGUSR1);
}

TEST_P(run_test, releases_in_the_end) {
  EXPECT_EQ(rowlock({"run", "job", "--", "false"}).exit_code, 1);
  EXPECT_EQ(rowlock({"run", "job", "-n", "--", "true"}).exit_code, 0);
  EXPECT_THAT(json_of({"show", "job"}).at(0).at("holders"), IsEmpty());
}

TEST_P(run_test, forwards_signals) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    auto process = start(
        {"run", "job", "--", "sh", "-c",
         "trap 'echo caught; exit 3' TERM INT HUP USR1 USR2; echo ready; while :; do sleep 0.01; done"});
    EXPECT_EQ(process->read_line(), "ready");
    process->send(signal);
    const auto result = process->wait();
    EXPECT_EQ(result.exit_code, 3) << signal;
    EXPECT_EQ(result.out, "ready\ncaught\n");
  }
}

TEST_P(run_test, a_forwarded_signal_that_kills_is_reported) {
  auto process = start({"run", "job", "--", "sh", "-c", "echo ready; exec sleep 600"});
  EXPECT_EQ(process->read_line(), "ready");
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().exit_code, 128 + SIGTERM);
}

// No signal is blocked in the command, and it ignores those that rowlock was started to ignore, as by nohup.
TEST_P(run_test, the_command_gets_the_signals_that_rowlock_was_started_with) {
  const words look{"grep", "-E", "Sig(Blk|Ign):", "/proc/self/status"};
  const auto without = command_process{look, {}}.wait();
  ASSERT_THAT(without.out, HasSubstr("SigBlk:\t0000000000000000"));
  words line{"run", "job", "--"};
  line.insert(line.end(), look.begin(), look.end());
  EXPECT_EQ(rowlock(line).out, without.out);
}

TEST_P(run_test, passes_the_exit_code_on_although_another_signal_comes_during_the_release) {
  auto process =
      start({"run", "job", "--", "sh", "-c", "trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done"});
  const pid_t command = std::stoi(process->read_line());
  auto rival = GetParam() == "sqlite" ? store->stall_renewals() : store->lock_row("job");
  process->send(SIGTERM);
  eventually("rowlock knows that the command has ended", [&] { return kill(command, 0) != 0; });
  process->send(SIGTERM);
  rival.reset();
  EXPECT_EQ(process->wait().exit_code, 7);
}

// Standard error that blocks makes the end last for a second.
TEST_P(run_test, passes_the_exit_code_on_although_another_signal_comes_after_the_release) {
  const full_pipe full;
  auto process =
      start_redirected("2>" + full.path(), {"-v", "run", "job", "--", "sh", "-c", "echo held; exit 7"});
  EXPECT_EQ(process->read_line(), "held");
  const process_handle handle{process->pid()};
  auto session = store->open()->connect();
  eventually("the lock is released", [&] {
    const auto lock = session->show("job");
    return lock && lock->row.in_use == 0;
  });
  eventually("it ends in spite of the signals", [&] {
    process->send(SIGTERM);
    return !handle.runs();
  });
  EXPECT_EQ(process->wait().exit_code, 7);
}

TEST_P(run_test, tells_of_the_first_of_two_signals_while_it_waits) {
  auto holder = hold("job");
  auto waiter = wait_for("job");
  waiter->send(SIGSTOP);
  waiter->send(SIGINT);
  waiter->send(SIGTERM);
  waiter->send(SIGCONT);
  EXPECT_EQ(waiter->wait().exit_code, 128 + SIGINT) << "the kernel tells of SIGINT first";
}

// nohup and a script's "command &" start a command with signals ignored.
TEST_P(run_test, a_signal_that_the_caller_ignores_ends_nothing) {
  auto process = command_process{{"sh", "-c", "trap '' HUP INT; exec \"$0\" \"$@\"", ROWLOCK_COMMAND_PATH,
                                  "run", "job", "--", "sh", "-c", "echo held; cat; exit 3"},
                                 environment()};
  EXPECT_EQ(process.read_line(), "held");
  auto waiter = command_process{{"sh", "-c", "trap '' HUP INT; exec \"$0\" \"$@\"", ROWLOCK_COMMAND_PATH,
                                 "run", "job", "--", "echo", "mine"},
                                environment()};
  auto session = store->open()->connect();
  eventually("the waiter is queued", [&] { return !session->queue("job").empty(); });
  for (const int signal : {SIGHUP, SIGINT}) {
    process.send(signal);
    waiter.send(signal);
  }
  EXPECT_EQ(process.wait().exit_code, 3);
  const auto result = waiter.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "mine\n");
}

TEST_P(run_test, killing_it_ends_the_command) {
  auto process = start({"run", "job", "--", "sh", "-c", "echo $$; exec sleep 600"});
  const process_handle command{std::stoi(process->read_line())};
  ASSERT_TRUE(command.runs());
  process->send(SIGKILL);
  eventually("the command is gone", [&] { return !command.runs(); });
  EXPECT_EQ(process->wait().exit_code, 128 + SIGKILL);
}

TEST_P(run_test, gives_the_command_none_of_its_own_descriptors) {
  auto process = start({"run", "job", "--", "sh", "-c", "echo $$; read -r line; true"});
  const pid_t command = std::stoi(process->read_line());
  EXPECT_THAT(descriptors_of(command), IsEmpty());
  EXPECT_EQ(process->wait().exit_code, 0);
}

TEST_P(run_test, passes_the_callers_descriptors_on) {
  auto process = start_redirected("7<<<hello 9<<<world", {"run", "job", "--", "sh", "-c",
                                                          "cat <&7; cat <&9; echo $$; read -r line; true"});
  EXPECT_EQ(process->read_line(), "hello");
  EXPECT_EQ(process->read_line(), "world");
  const auto left = descriptors_of(std::stoi(process->read_line()));
  EXPECT_EQ(left.size(), 2) << testing::PrintToString(left);
  EXPECT_TRUE(left.contains(7) && left.contains(9)) << testing::PrintToString(left);
  EXPECT_EQ(process->wait().exit_code, 0);
}

TEST_P(run_test, refuses_what_cannot_be_right) {
  const std::vector<words> wrong{
      {"run", "job"},
      {"run", "job", "--"},
      {"run", "--", "true"},
      {"run", "", "--", "true"},
      {"run", "a\nb", "--", "true"},
      {"run", std::string(513, 'n'), "--", "true"},
      {"run", "job", "--wait", "30", "--", "true"},
      {"run", "job", "--wait", "-1s", "--", "true"},
      {"run", "job", "--wait", "soon", "--", "true"},
      {"run", "job", "--wait", "99999999999999999999s", "--", "true"},
      {"run", "job", "--wait", "4000d", "--", "true"},
      {"run", "job", "--wait", "1s", "-n", "--", "true"},
      {"run", "job", "--ttl", "10ms", "--", "true"},
      {"run", "job", "--ttl", "2d", "--", "true"},
      {"run", "job", "--ttl", "10s", "--kill-after", "6s", "--", "true"},
      {"run", "job", "-E", "256", "--", "true"},
      {"run", "job", "--no-such-option", "--", "true"},
  };
  for (const auto& line : wrong) {
    const auto result = rowlock(line);
    EXPECT_EQ(result.exit_code, 64) << testing::PrintToString(line);
    EXPECT_THAT(result.err, testing::StartsWith("rowlock: ")) << testing::PrintToString(line);
  }
}

ROWLOCK_FOR_EACH_SQL_STORE(run_test);

}  // namespace rowlock::test
