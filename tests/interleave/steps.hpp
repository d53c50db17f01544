// Threads that take turns: each stops before each SQL statement that it sends, and goes on when the scheduler says so.
#pragma once

#include "server_view.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rowlock::test {

class step_scheduler;

// One connection with the calls that it makes, in a thread of its own.
class actor {
 public:
  const std::string& name() const { return name_; }

 private:
  friend class step_scheduler;
  enum class state { stopped, running, finished };

  std::string name_;
  std::function<void()> calls_;
  state state_ = state::finished;  // or not started
  bool told_to_go_ = false;
  bool waits_for_others_ = false;  // it repeats what is locked; useless before another actor has moved
  bool stopped_in_server_ = false;
  bool is_blocked_ = false;  // the statement that it sent was seen waiting for a lock
  std::string next_;         // the statement that it stopped before
  std::string backend_;      // the backend of the connection that it used last
  std::exception_ptr failure_;
  std::thread thread_;
};

// One run: at most one actor moves at a time, except actors that waited for a lock which was then released.
class step_scheduler {
 public:
  // patient: a wait for a lock in this process ends with the lock, not with a limit.
  step_scheduler(server_view& server, bool patient) : server_{server}, patient_{patient} {}
  ~step_scheduler();
  step_scheduler(const step_scheduler&) = delete;
  step_scheduler& operator=(const step_scheduler&) = delete;

  void add(std::string name, std::function<void()> calls);
  // Runs all actors to their ends. pick(n) chooses one of n actors that can go on; after_step is called when none
  // moves. Throws what an actor threw, and std::runtime_error if the actors do not end.
  void run(const std::function<std::size_t(std::size_t)>& pick, const std::function<void()>& after_step);

  // Who sent what, in the order of the run.
  std::string story() const;
  std::string order() const;                          // who went on at each step
  std::size_t switches() const { return switches_; }  // how often another actor than before went on
  std::size_t choices() const { return choices_; }    // how often there was a choice
  std::size_t blocked() const { return blocked_; }    // how often a statement waited for a lock

  // ---- called by actors, through the hooks of interposed.cpp; nothing happens on other threads ----
  static bool on_actor() noexcept;
  static void stop_before(std::string_view statement);
  // Says that what the actor tried was locked, and waits until another actor has moved.
  static void wait_for_others();
  // Waits for a lock inside this process (SQLite). False: the wait is over, and the lock is not free.
  static bool wait_for_lock(int attempts);
  // Says which connection the next statements go through.
  static void use_backend(const std::string& id);

 private:
  void stop(actor& who, std::string_view statement, bool waits_for_others);
  void settle();
  std::vector<actor*> able() const;
  void let_go(actor& who);

  server_view& server_;
  const bool patient_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<actor>> actors_;
  std::vector<std::string> events_;
  std::string order_;
  actor* last_ = nullptr;
  std::size_t switches_ = 0, choices_ = 0, blocked_ = 0;
  bool abandoned_ = false;  // the run has failed: nobody stops any more
};

}  // namespace rowlock::test
