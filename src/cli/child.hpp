// A command that runs while a lock is held, and dies with this process.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace rowlock::cli {

// The command could not be executed; the code is the shell's, 126 or 127.
class not_started : public std::runtime_error {
 public:
  not_started(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

class child {
 public:
  // Starts words[0], looked for in PATH, with that environment and signal mask. A SIGKILL of this process
  // kills it: the kernel watches the thread that calls this, which must live as long as the child shall.
  // Throws not_started, error(internal) when no process could be made.
  child(const std::vector<std::string>& words, const std::vector<std::string>& environment,
        const sigset_t& mask);
  ~child();  // kills it if it still runs
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void send(int signal) noexcept;
  bool ended();                    // does not wait
  int exit_code() const noexcept;  // its own, or 128 + the signal that ended it; once it has ended

 private:
  void wait() noexcept;

  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// This process's environment without ROWLOCK_URL*, which hold secrets, and with the name and the token.
std::vector<std::string> child_environment(const std::string& name, long long token);

}  // namespace rowlock::cli
