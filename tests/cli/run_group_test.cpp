// When rowlock run ends its command, it also ends the processes that the command has started; and the command
// has the terminal.
#include "cli/cli_test.hpp"
#include "support/temporary_folder.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::test {

using testing::HasSubstr;
using testing::Not;

// The state of a process, as the kernel shows it: T is stopped, X is gone.
char state_of(pid_t process) {
  std::string text;
  std::getline(std::ifstream{"/proc/" + std::to_string(process) + "/stat"}, text);
  const auto after_name = text.rfind(") ");
  return after_name == std::string::npos ? 'X' : text.at(after_name + 2);
}

class run_group_test : public cli_test {
 protected:
  // Starts a command that starts a second process. Both stay. They tell their pids in any order.
  std::unique_ptr<command_process> start_pair(const std::string& first_does, const words& options = {}) {
    words arguments{"run", "job"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(),
                     {"--", "sh", "-c",
                      "sh -c 'trap \"\" TERM; echo second $$; while :; do sleep 0.01; done' & " + first_does +
                          "; echo command $$; while :; do sleep 0.01; done"});
    auto process = start(arguments);
    for (int i = 0; i < 2; ++i) {
      std::istringstream line{process->read_line()};
      std::string which;
      line >> which;
      pid_t pid = 0;
      line >> pid;
      (which == "command" ? command_ : second_) = process_handle{pid};
    }
    return process;
  }
  // Waits until the lease of the holder of "job" is lengthened.
  void wait_for_renewal() {
    const auto session = store->open()->connect();
    auto last = std::chrono::microseconds::max();
    eventually("the lease is renewed", [&] {
      const auto lock = session->show("job");
      if (!lock || lock->holders.empty()) throw std::runtime_error("the lock is lost");
      const auto left = std::chrono::microseconds{lock->holders.front().expires_in};
      return std::exchange(last, left) < left;
    });
  }
  bool both_run() const { return command_.runs() && second_.runs(); }
  bool any_runs() const { return command_.runs() || second_.runs(); }

  process_handle command_;
  process_handle second_;
};

TEST_P(run_group_test, is_killed_when_the_hold_is_lost) {
  auto process = start_pair("trap 'exit 0' TERM", {"--ttl", "3s", "--kill-after", "200ms"});
  EXPECT_EQ(rowlock({"release", "job", "--force"}).exit_code, 0);
  EXPECT_EQ(process->wait().exit_code, 76);
  EXPECT_FALSE(any_runs()) << "one of them has ended by itself, and the other one ignores SIGTERM";
}

TEST_P(run_group_test, is_killed_with_rowlock) {
  auto process = start_pair(":");
  process->send(SIGKILL);
  eventually("both are gone", [&] { return !any_runs(); });
  EXPECT_EQ(process->wait().exit_code, 128 + SIGKILL);
}

// Whether `pkill -9 rowlock` or `pkill -9 -f rowlock` would select the process.
bool is_selected(pid_t pid) {
  std::stringstream name, arguments;
  name << std::ifstream{"/proc/" + std::to_string(pid) + "/comm"}.rdbuf();
  arguments << std::ifstream{"/proc/" + std::to_string(pid) + "/cmdline"}.rdbuf();
  EXPECT_FALSE(name.str().empty() || arguments.str().empty()) << pid;
  return (name.str() + arguments.str()).find("rowlock") != std::string::npos;
}

// The guard process, which is rowlock's child beside the command. Waits until it has a name other than
// "rowlock".
pid_t guard_of(pid_t rowlock, pid_t command) {
  pid_t guard = 0;
  eventually("there is a guard", [&] {
    guard = 0;
    std::ifstream children{"/proc/" + std::to_string(rowlock) + "/task/" + std::to_string(rowlock) +
                           "/children"};
    for (pid_t each = 0; children >> each;) {
      std::string name;
      std::getline(std::ifstream{"/proc/" + std::to_string(each) + "/comm"}, name);
      if (each != command && name != "rowlock") guard = each;
    }
    return guard != 0;
  });
  return guard;
}

TEST_P(run_group_test, is_killed_with_everything_that_is_named_rowlock) {
  auto process = start_pair(":");
  std::vector<pid_t> selected{process->pid()};
  std::ifstream children{"/proc/" + std::to_string(process->pid()) + "/task/" +
                         std::to_string(process->pid()) + "/children"};
  guard_of(process->pid(), command_.pid());
  std::size_t count = 0;
  for (pid_t each = 0; children >> each; ++count) {
    if (is_selected(each)) selected.push_back(each);
  }
  EXPECT_EQ(count, 2) << "the command and the guard";
  for (const pid_t each : selected) kill(each, SIGSTOP);
  for (const pid_t each : selected) kill(each, SIGKILL);
  eventually("both are gone", [&] { return !any_runs(); });
  EXPECT_EQ(process->wait().exit_code, 128 + SIGKILL);
}

TEST_P(run_group_test, is_killed_with_rowlock_although_the_guard_was_killed_before) {
  auto process = start_pair(":");
  const auto first = guard_of(process->pid(), command_.pid());
  EXPECT_EQ(kill(first, SIGKILL), 0);
  eventually("there is another guard", [&] { return guard_of(process->pid(), command_.pid()) != first; });
  EXPECT_TRUE(both_run());
  process->send(SIGKILL);
  eventually("both are gone", [&] { return !any_runs(); });
  EXPECT_EQ(process->wait().exit_code, 128 + SIGKILL);
}

TEST_P(run_group_test, gets_the_signals_that_rowlock_gets) {
  auto process = start({"run", "job", "--", "sh", "-c",
                        "trap : USR1; "
                        "sh -c 'trap \"echo inner; exit\" USR1; echo ready; while :; do sleep 0.01; done' & "
                        "wait; wait"});
  EXPECT_EQ(process->read_line(), "ready");
  process->send(SIGUSR1);
  EXPECT_EQ(process->read_line(), "inner");
  EXPECT_EQ(process->wait().exit_code, 0);
}

TEST_P(run_group_test, is_left_alone_when_the_command_ends_by_itself) {
  const auto result = rowlock({"run", "job", "--", "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"});
  EXPECT_EQ(result.exit_code, 0);
  const process_handle left{std::stoi(result.out)};
  EXPECT_TRUE(left.runs());
  left.signal(SIGKILL);
}

// Starts a command on a terminal of its own.
class on_terminal {
 public:
  on_terminal(words arguments, const std::map<std::string, std::string>& environment) {
    std::vector<char*> pointers;
    for (auto& word : arguments) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_ = forkpty(&screen_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
  }
  ~on_terminal() {
    if (pid_ > 0 && status_ < 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status_, 0);
    }
    close(screen_);
  }
  on_terminal(const on_terminal&) = delete;
  on_terminal& operator=(const on_terminal&) = delete;

  void type(const std::string& text) const {
    ASSERT_EQ(write(screen_, text.data(), text.size()), ssize_t(text.size()));
  }
  // Reads until the screen has shown that text, and returns everything that it has shown so far. Gives up
  // after a minute in which nothing is shown.
  std::string until(const std::string& text) {
    while (shown_.find(text) == std::string::npos) {
      pollfd watched{screen_, POLLIN, 0};
      char part[512];
      if (poll(&watched, 1, 60'000) <= 0) return shown_ + " and nothing more for a minute";
      const auto got = read(screen_, part, sizeof part);
      if (got <= 0) return shown_ + " and its end";
      shown_.append(part, static_cast<std::size_t>(got));
    }
    return shown_;
  }
  int exit_code() {
    waitpid(pid_, &status_, 0);
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  pid_t pid_ = -1;
  int screen_ = -1;
  int status_ = -1;
  std::string shown_;
};

TEST_P(run_group_test, is_in_the_foreground_of_a_terminal) {
  on_terminal command{
      {ROWLOCK_COMMAND_PATH, "run", "job", "--", "sh", "-c",
       "read -r _ _ _ _ group _ _ front _ </proc/self/stat; test $group = $front && echo in front; "
       "read -r word; echo it was $word"},
      environment()};
  EXPECT_THAT(command.until("in front"), HasSubstr("in front"));
  command.type("hello\n");
  EXPECT_THAT(command.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(command.exit_code(), 0);
}

TEST_P(run_group_test, is_interrupted_from_a_terminal) {
  on_terminal command{{ROWLOCK_COMMAND_PATH, "run", "job", "--", "sh", "-c", "echo ready; exec sleep 600"},
                      environment()};
  EXPECT_THAT(command.until("ready"), HasSubstr("ready"));
  command.type("\x03");
  EXPECT_EQ(command.exit_code(), 128 + SIGINT);
}

// A shell with job control, which continues the command in the foreground when a line was typed.
words in_shell(const words& options, const std::string& begins = "echo ready") {
  words result{"/bin/bash",          "-c",  "set -m; \"$0\" \"$@\"; echo stopped; read -r; fg",
               ROWLOCK_COMMAND_PATH, "run", "job"};
  result.insert(result.end(), options.begin(), options.end());
  result.insert(result.end(), {"--", "sh", "-c", begins + "; read -r word; echo it was $word"});
  return result;
}

TEST_P(run_group_test, is_stopped_and_continued_with_rowlock) {
  on_terminal shell{in_shell({}), environment()};
  EXPECT_THAT(shell.until("ready"), HasSubstr("ready"));
  shell.type("\x1a");
  EXPECT_THAT(shell.until("stopped\r\n"), HasSubstr("stopped\r\n"));
  shell.type("\nhello\n");
  EXPECT_THAT(shell.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(shell.exit_code(), 0);
}

// As the "suspend" of a shell that rowlock runs.
TEST_P(run_group_test, that_stops_itself_in_the_foreground_is_stopped_and_continued_with_rowlock) {
  on_terminal shell{in_shell({}, "kill -STOP $$"), environment()};
  EXPECT_THAT(shell.until("stopped\r\n"), HasSubstr("stopped\r\n"));
  shell.type("\nhello\n");
  EXPECT_THAT(shell.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(shell.exit_code(), 0);
}

TEST_P(run_group_test, keeps_the_lock_while_somebody_has_stopped_it) {
  auto process = start({"run", "job", "--ttl", "3s", "--", "sh", "-c", "echo $$; read -r line; exit 3"});
  const process_handle command{std::stoi(process->read_line())};
  command.signal(SIGSTOP);
  eventually("it is stopped", [&] { return state_of(command.pid()) == 'T'; });
  wait_for_renewal();
  wait_for_renewal();
  EXPECT_EQ(state_of(command.pid()), 'T');
  command.signal(SIGCONT);
  EXPECT_EQ(process->wait().exit_code, 3);
}

// The shell is the leader of the session, so nobody could continue rowlock.
TEST_P(run_group_test, that_stops_itself_stays_stopped_where_no_shell_could_continue_rowlock) {
  on_terminal command{
      {"/bin/sh", "-c",
       "\"$0\" run job --ttl 3s -- sh -c 'echo pid $$.; kill -STOP $$; echo went on'; exit $?",
       ROWLOCK_COMMAND_PATH},
      environment()};
  const auto shown = command.until(".");
  const process_handle stopped{std::stoi(shown.substr(shown.find("pid ") + 4))};
  eventually("it is stopped", [&] { return state_of(stopped.pid()) == 'T'; });
  wait_for_renewal();
  EXPECT_EQ(state_of(stopped.pid()), 'T');
  stopped.signal(SIGCONT);
  EXPECT_THAT(command.until("went on"), HasSubstr("went on"));
  EXPECT_EQ(command.exit_code(), 0);
}

TEST_P(run_group_test, ends_with_76_when_its_lease_has_expired_while_it_was_stopped) {
  on_terminal shell{in_shell({"--ttl", "4s", "--kill-after", "100ms"}), environment()};
  EXPECT_THAT(shell.until("ready"), HasSubstr("ready"));
  shell.type("\x1a");
  EXPECT_THAT(shell.until("stopped\r\n"), HasSubstr("stopped\r\n"));
  EXPECT_EQ(rowlock({"run", "job", "--", "true"}).exit_code, 0);
  shell.type("\nhello\n");
  EXPECT_THAT(shell.until("was lost"), Not(HasSubstr("it was hello")));
  EXPECT_EQ(shell.exit_code(), 76);
}

// A shell with job control, which runs rowlock with standard output in a file. The terminal then stays with rowlock's
// group, and so Ctrl-Z reaches rowlock but not its command. The command tells a pid and waits until the test ends it.
// It starts no process meanwhile, because a shell whose vfork is stopped half-way does not stop itself. The shell shows
// how the job has come to its end or to a stop, and continues it when a line was typed.
class redirected_job {
 public:
  redirected_job(const std::string& tells_pid, const std::map<std::string, std::string>& environment,
                 const std::string& at_end = ":")
      : shell_{
            {"/bin/bash", "-c",
             "set -m; cd \"$1\"; mkfifo end; \"$0\" run job -- sh -c \"$2\" >pid; echo code $?; read -r; fg; "
             "echo code $?",
             ROWLOCK_COMMAND_PATH, folder_.path().string(), tells_pid + "; read -r word <end; " + at_end},
            environment} {
    eventually("the command tells a pid", [&] {
      pid_ = 0;
      std::string line;
      // Without the newline the number may be incomplete.
      std::ifstream file{folder_.path() / "pid"};
      if (std::getline(file, line) && !file.eof()) pid_ = std::stoi(line);
      return pid_ != 0;
    });
  }
  on_terminal& shell() noexcept { return shell_; }
  void end_command() const { std::ofstream{folder_.path() / "end"} << '\n'; }
  char state() const { return state_of(pid_); }  // of the process that the command has told

 private:
  temporary_folder folder_;
  on_terminal shell_;
  pid_t pid_ = 0;
};

const std::string stopped_code = "code " + std::to_string(128 + SIGTSTP);

TEST_P(run_group_test, is_stopped_with_rowlock_although_its_output_is_a_file) {
  redirected_job job{"echo $$", environment()};
  job.shell().type("\x1a");
  EXPECT_THAT(job.shell().until(stopped_code), HasSubstr(stopped_code));
  // A process in another group stops a moment after the signal was sent.
  eventually("it is stopped", [&] { return job.state() == 'T'; });
  job.shell().type("\n");
  eventually("the command goes on", [&] { return job.state() != 'T'; });
  job.end_command();
  EXPECT_THAT(job.shell().until("code 0"), HasSubstr("code 0"));
}

TEST_P(run_group_test, is_stopped_with_rowlock_although_a_part_of_it_ignores_the_stop) {
  redirected_job job{"trap '' TSTP; sleep 600 >/dev/null & trap - TSTP; echo $!", environment(), "kill $!"};
  job.shell().type("\x1a");
  EXPECT_THAT(job.shell().until(stopped_code), HasSubstr(stopped_code));
  // A process in another group stops a moment after the signal was sent.
  eventually("it is stopped", [&] { return job.state() == 'T'; });
  job.shell().type("\n");
  eventually("it goes on", [&] { return job.state() != 'T'; });
  job.end_command();
  EXPECT_THAT(job.shell().until("code 0"), HasSubstr("code 0"));
}

// Otherwise the command would go on without a renewal of the lease.
TEST_P(run_group_test, is_not_left_by_a_stopped_rowlock_when_it_ignores_the_stop) {
  redirected_job job{"trap '' TSTP; echo $$", environment()};
  job.shell().type("\x1a");
  EXPECT_THAT(job.shell().until("^Z"), HasSubstr("^Z"));
  job.end_command();
  EXPECT_THAT(job.shell().until("code 0"), HasSubstr("code 0"));
}

TEST_P(run_group_test, waits_on_after_it_was_stopped_and_continued) {
  auto holder = hold("job");
  on_terminal shell{in_shell({}), environment()};
  auto session = store->open()->connect();
  eventually("it is queued", [&] { return !session->queue("job").empty(); });
  shell.type("\x1a");
  EXPECT_THAT(shell.until("stopped\r\n"), HasSubstr("stopped\r\n"));
  EXPECT_EQ(holder->wait().exit_code, 0);
  shell.type("\nhello\n");
  EXPECT_THAT(shell.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(shell.exit_code(), 0);
}

// The shell is the leader of the session, so nobody could continue what Ctrl-Z stops.
TEST_P(run_group_test, is_not_stopped_where_no_shell_could_continue_it) {
  on_terminal command{
      {"/bin/sh", "-c", "\"$0\" run job -- sh -c 'echo ready; read -r word; echo it was $word'; exit $?",
       ROWLOCK_COMMAND_PATH},
      environment()};
  EXPECT_THAT(command.until("ready"), HasSubstr("ready"));
  command.type("\x1a");
  EXPECT_THAT(command.until("^Z"), HasSubstr("^Z"));
  command.type("hello\n");
  EXPECT_THAT(command.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(command.exit_code(), 0);
}

// The terminal belongs to the whole pipeline until the command reads from it.
TEST_P(run_group_test, gets_the_terminal_of_a_pipeline_when_it_reads_from_it) {
  on_terminal command{
      {"/bin/sh", "-c", "\"$0\" run job -- sh -c 'echo ready; read -r word; echo it was $word' | cat",
       ROWLOCK_COMMAND_PATH},
      environment()};
  EXPECT_THAT(command.until("ready"), HasSubstr("ready"));
  command.type("hello\n");
  EXPECT_THAT(command.until("it was hello"), HasSubstr("it was hello"));
  EXPECT_EQ(command.exit_code(), 0);
}

ROWLOCK_FOR_EACH_SQL_STORE(run_group_test);

}  // namespace rowlock::test
