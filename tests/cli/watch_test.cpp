#include "cli/cli_test.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace rowlock::test {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

namespace {

// The command in a terminal of its own.
class terminal_process {
 public:
  terminal_process(const words& arguments, const std::map<std::string, std::string>& environment,
                   unsigned short columns) {
    winsize size{.ws_row = 10, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      std::vector<char*> pointers{const_cast<char*>(ROWLOCK_COMMAND_PATH)};
      for (const auto& word : arguments) pointers.push_back(const_cast<char*>(word.c_str()));
      pointers.push_back(nullptr);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    tcgetattr(terminal_, &before_);
  }
  ~terminal_process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
  }
  terminal_process(const terminal_process&) = delete;
  terminal_process& operator=(const terminal_process&) = delete;

  // Reads until the text is there, and returns all since the last call.
  std::string read_until(const std::string& text) {
    std::string result;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (result.find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > deadline || !read_some(result))
        throw std::runtime_error("no " + text + " in: " + result);
    }
    return result;
  }
  void press(const std::string& keys) const { ASSERT_GT(write(terminal_, keys.data(), keys.size()), 0); }
  void send(int signal) const { kill(pid_, signal); }
  int exit_code() {
    std::string rest;
    while (read_some(rest)) {
    }
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Whether the terminal reads lines and echoes them, as before.
  bool is_restored() const {
    termios now{};
    tcgetattr(terminal_, &now);
    return now.c_lflag == before_.c_lflag;
  }

 private:
  // False: its end, or nothing for long.
  bool read_some(std::string& result) const {
    pollfd watched{terminal_, POLLIN, 0};
    if (poll(&watched, 1, 60'000) <= 0) return false;
    char buffer[4096];
    const auto count = read(terminal_, buffer, sizeof buffer);
    if (count <= 0) return false;
    result.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int terminal_ = -1;
  pid_t pid_ = -1;
  termios before_{};
};

}  // namespace

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

TEST_P(watch_test, refuses_wrong_words) {
  EXPECT_EQ(rowlock({"watch", "--interval", "1ms"}).exit_code, 64);
  EXPECT_EQ(rowlock({"watch", "--interval", "soon"}).exit_code, 64);
  EXPECT_EQ(rowlock({"watch", "a", "b"}).exit_code, 64);
  EXPECT_EQ(rowlock_alone({"watch"}).exit_code, 64) << "no database";
}

ROWLOCK_FOR_EACH_SQL_STORE(watch_test);

}  // namespace rowlock::test
