// Processes under the same load. A test kills one after another and replaces them.
#pragma once

#include "worker.hpp"

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace rowlock::test {

class crew {
 public:
  // load: the line that is sent to each process.
  crew(worker_settings settings, std::string load, std::size_t size);

  // Kills a process with SIGKILL and starts another in its place.
  void kill_one(std::mt19937& random);
  // Kills and replaces one of the processes whose pids choose() returns. It stops the process first and then asks again:
  // on a busy machine what choose() has seen is over before the process dies. False: none is a member, or the stopped
  // one is none of them any more and goes on.
  using pids_of = std::function<std::set<std::int64_t>()>;
  bool kill_one_of(const pids_of& choose, std::mt19937& random);
  // Kills a process, whose place stays empty until refill().
  void remove_one(std::mt19937& random);
  bool remove_one_of(const pids_of& choose, std::mt19937& random);
  void refill();

  // How many of the processes with these pids are members.
  std::size_t count_of(const std::set<std::int64_t>& pids);

  using counts = std::map<std::string, std::int64_t>;
  // Ends the loads, or waits for their end. Then closes the processes and returns the sums of their counts.
  counts halt() { return end("halt"); }
  counts join() { return end("join"); }

 private:
  using member = std::unique_ptr<worker>;
  void start(member& one) const;
  std::vector<member*> living();
  std::vector<member*> living(const std::set<std::int64_t>& pids);
  counts end(const std::string& how);

  worker_settings settings_;
  std::string load_;
  std::vector<member> members_;
};

}  // namespace rowlock::test
