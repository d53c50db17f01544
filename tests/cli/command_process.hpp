// Runs a command as a user does: starts it, sends it signals, and takes its exit code, its output and its
// errors.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::test {

struct command_result {
  int exit_code = -1;  // 128 + the signal, if a signal ended the command
  std::string out;
  std::string err;
};

class command_process {
 public:
  // environment: changes to this process's environment; an empty value removes the variable.
  command_process(const std::vector<std::string>& words,
                  const std::map<std::string, std::string>& environment);
  ~command_process();  // kills the command if it still runs
  command_process(const command_process&) = delete;
  command_process& operator=(const command_process&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // The next line of its standard output. Throws std::runtime_error when none comes within a minute.
  std::string read_line();
  std::string read_error_line();  // as read_line(), of its standard error
  void close_input();
  // Closes its input and waits for its end. Throws std::runtime_error when it lasts more than a minute.
  command_result wait();

 private:
  std::string next_line(const std::string& text, std::size_t& start);
  // Waits for output and reads it. Returns false when both pipes have ended. Throws std::runtime_error at the
  // deadline.
  bool read_some(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int input_ = -1;
  int out_ = -1;
  int err_ = -1;
  command_result result_;
  std::size_t line_start_ = 0;
  std::size_t error_line_start_ = 0;
  bool reaped_ = false;
};

// Evaluates the condition until it holds. Throws std::runtime_error when it does not hold within a minute.
template <class Condition>
void eventually(const char* what, Condition condition);

}  // namespace rowlock::test

#include <stdexcept>
#include <thread>

template <class Condition>
void rowlock::test::eventually(const char* what, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(std::string{what} + ": never");
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}
