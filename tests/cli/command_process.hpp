// A command as a user runs it: started, spoken to, and its exit code, output and errors taken.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::test {

struct command_result {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

class command_process {
 public:
  // environment: changes to this process's; an empty value takes the variable out.
  command_process(const std::vector<std::string>& words,
                  const std::map<std::string, std::string>& environment);
  ~command_process();  // kills it if it still runs
  command_process(const command_process&) = delete;
  command_process& operator=(const command_process&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  // The next line of its standard output. Throws std::runtime_error when none comes within a minute.
  std::string read_line();
  std::string read_error_line();  // the same of its standard error
  void close_input();
  // Closes its input and waits for its end. Throws std::runtime_error when it lasts more than a minute.
  command_result wait();

 private:
  std::string next_line(const std::string& text, std::size_t& start);
  // Reads what is there, at most until the deadline; false when both pipes have ended.
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

// Whether the process still executes; a zombie does not.
bool runs(pid_t pid);

// Looks again until the condition holds. Throws std::runtime_error when it does not within a minute.
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
