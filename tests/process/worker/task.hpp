// One thread of a load, which repeats its task.
#pragma once

#include "sql_session.hpp"
#include "tally.hpp"

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace rowlock::test {

struct database_in_use {
  client db;
  std::string url;
  std::string prefix;
};

struct load_plan {
  std::string mode;                        // the word that selects the task: make_task()
  std::vector<database_in_use> databases;  // one, except for a quorum
  std::vector<std::string> names;
  int threads = 1;
  int rounds = 0;  // the rounds of each thread; 0: until it is halted
};

class task {
 public:
  task(const load_plan& plan, tally& counts)
      : plan_{plan}, counts_{counts}, sessions_(plan.databases.size()) {}
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  virtual ~task() = default;

  // Does one round. Throws what rowlock throws. error(cancelled) ends a wait.
  virtual void run(int round, std::stop_token stop) = 0;

 protected:
  const load_plan& plan() const { return plan_; }
  tally& counts() { return counts_; }
  // Runs the words on the application's own connection, again if the server has rolled their transaction back, and
  // reconnects after a break. False: the connection broke.
  bool speak(const std::function<void(sql_session&)>& words, std::size_t database = 0);
  void count(release_result result);

 private:
  const load_plan& plan_;
  tally& counts_;
  std::vector<std::unique_ptr<sql_session>> sessions_;
};

// index: the number of the thread. Throws std::invalid_argument for an unknown mode.
std::unique_ptr<task> make_task(const load_plan& plan, tally& counts, int index);

// The functions that make a task, one for each mode.
using task_maker = std::unique_ptr<task>(const load_plan& plan, tally& counts, int index);
task_maker make_counter_task, make_shared_mutex_task, make_conversion_task, make_semaphore_task,
    make_election_task, make_acquire_all_task, make_quorum_task, make_count_down_task, make_latch_task,
    make_barrier_task;

}  // namespace rowlock::test
