#include "cli/command_process.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rowlock::test {

namespace {

using clock = std::chrono::steady_clock;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

void close_once(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

command_process::command_process(const std::vector<std::string>& words,
                                 const std::map<std::string, std::string>& environment) {
  const auto in = make_pipe();
  const auto out = make_pipe();
  const auto err = make_pipe();
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  pid_ = ::fork();
  if (pid_ == 0) {
    for (const auto& [name, value] : environment) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    // A shell that runs the tests in the background ignores some signals, and the command would inherit that.
    // libmariadb, in the tests' own process, ignores SIGPIPE.
    for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    // The command must not inherit the tests' own connections.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  input_ = in[1];
  out_ = out[0];
  err_ = err[0];
}

command_process::~command_process() {
  close_input();
  close_once(out_);
  close_once(err_);
  if (reaped_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void command_process::send(int signal) const {
  ::kill(pid_, signal);
}

void command_process::close_input() {
  close_once(input_);
}

bool command_process::read_some(clock::time_point deadline) {
  if (out_ < 0 && err_ < 0) return false;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
  pollfd watched[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (left <= 0 || ::poll(watched, 2, static_cast<int>(left)) == 0) {
    throw std::runtime_error("a command said and did nothing for a minute; so far: " + result_.out +
                             result_.err);
  }
  const auto take = [](const pollfd& from, int& descriptor, std::string& text) {
    if (from.revents == 0) return;
    char buffer[4096];
    const auto got = ::read(descriptor, buffer, sizeof buffer);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    } else {
      close_once(descriptor);
    }
  };
  take(watched[0], out_, result_.out);
  take(watched[1], err_, result_.err);
  return true;
}

std::string command_process::read_line() {
  return next_line(result_.out, line_start_);
}

std::string command_process::read_error_line() {
  return next_line(result_.err, error_line_start_);
}

std::string command_process::next_line(const std::string& text, std::size_t& start) {
  const auto deadline = clock::now() + std::chrono::minutes{1};
  for (;;) {
    const auto end = text.find('\n', start);
    if (end != std::string::npos) {
      const auto line = text.substr(start, end - start);
      start = end + 1;
      return line;
    }
    if (!read_some(deadline))
      throw std::runtime_error("a command ended without a line; it said: " + result_.err);
  }
}

command_result command_process::wait() {
  close_input();
  const auto deadline = clock::now() + std::chrono::minutes{1};
  while (read_some(deadline)) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  result_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result_;
}

}  // namespace rowlock::test
