// Runs the rowlock command in a terminal of its own.
#pragma once

#include "cli/cli_test.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace rowlock::test {

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
  pid_t pid() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }
  int exit_code() {
    std::string rest;
    while (read_some(rest)) {
    }
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // As exit_code(), without reading what the terminal shows. Throws std::runtime_error when the process does not end
  // within a minute.
  int exit_code_unread() {
    int status = 0;
    eventually("the process ends", [&] { return waitpid(pid_, &status, WNOHANG) == pid_; });
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Writes to the terminal, as another program there could, until it takes no more.
  void fill() const {
    const int other = open(ptsname(terminal_), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const std::string some(256, ' ');
    while (write(other, some.data(), some.size()) > 0) {
    }
    close(other);
  }
  // Whether the terminal reads lines and echoes them, as it did before the command.
  bool is_restored() const {
    termios now{};
    tcgetattr(terminal_, &now);
    return now.c_lflag == before_.c_lflag;
  }

 private:
  // Returns false if the terminal was closed, or shows nothing for a minute.
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

}  // namespace rowlock::test
