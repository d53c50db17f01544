// A process that uses rowlock. The test tells it what to do, one line at a time (worker/main.cpp).
#pragma once

#include "child_process.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

struct worker_settings {
  std::string url;
  std::string prefix;
  std::string application;
  std::chrono::milliseconds ttl{30'000};              // no busy machine pauses for that long
  std::chrono::milliseconds statement_timeout{0};     // 0: rowlock's default
  std::chrono::milliseconds connect_timeout{20'000};  // rowlock's default is too short for a loaded machine
  std::chrono::milliseconds close_timeout{20'000};    // likewise
  std::chrono::milliseconds skew{0};
  std::vector<std::string> program;  // what is started with these arguments; empty: the worker of this folder
};

struct granted {
  std::int64_t token = 0;
  std::string hold_id;
};

class worker {
 public:
  // Starts the process and connects. Throws std::runtime_error with the worker's message, like every member.
  explicit worker(const worker_settings& settings);

  pid_t pid() const noexcept { return process_->pid(); }
  void stop();  // sends SIGSTOP and waits until the process has stopped
  void go_on() { process_->signal(SIGCONT); }
  void kill() { process_->kill(); }
  // Lets the process close its client and end.
  void finish();

  void tell(const std::string& line);
  std::string answer(std::chrono::milliseconds limit = std::chrono::seconds{30});
  std::string ask(const std::string& line, std::chrono::milliseconds limit = std::chrono::seconds{30}) {
    tell(line);
    return answer(limit);
  }

  granted acquire(const std::string& name) { return ask_for("acquire " + name); }
  // The grant of an acquire that was sent with tell().
  granted grant(std::chrono::milliseconds limit = std::chrono::seconds{30});
  bool is_silent();

  // The counts that a load reports.
  std::map<std::string, std::int64_t> counts(const std::string& line, std::chrono::milliseconds limit);
  // The report that contained the counts, with the failures in words.
  const std::string& reported() const noexcept { return reported_; }

 private:
  granted ask_for(const std::string& line) {
    tell(line);
    return grant();
  }
  std::string take_line();

  struct descriptor {
    descriptor() = default;
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor();
    int number = -1;
  };
  std::unique_ptr<descriptor> socket_ = std::make_unique<descriptor>();
  std::unique_ptr<child_process> process_;
  std::string read_;
  std::string reported_;
};

}  // namespace rowlock::test
