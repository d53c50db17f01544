// Threads that repeat a task until they are halted.
#pragma once

#include "task.hpp"

#include <string>
#include <thread>
#include <vector>

namespace rowlock::test {

class load {
 public:
  explicit load(load_plan plan);
  ~load();
  load(const load&) = delete;
  load& operator=(const load&) = delete;

  void halt() { halt_.request_stop(); }
  void join();
  // The report is complete after join().
  std::string report() const { return counts_.report(); }

 private:
  void run(task& work);

  const load_plan plan_;
  std::stop_source halt_;
  tally counts_;
  std::vector<std::unique_ptr<task>> tasks_;
  std::vector<std::thread> threads_;
};

}  // namespace rowlock::test
