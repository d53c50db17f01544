// The worker processes of one row of the matrix, and what they have written down so far.
#pragma once

#include "child_process.hpp"
#include "histories.hpp"
#include "load.hpp"
#include "site.hpp"

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace rowlock::test {

class crowd {
 public:
  // The workers connect to the places in turn.
  crowd(load_settings settings, std::vector<site::place> places, std::size_t size);

  // Starts a worker in place of each that was killed.
  void refill();

  histories& told() { return told_; }
  struct work {
    std::string name;  // the lock under which work was done last
    std::int64_t at = 0;
  };
  // Waits until work was done under each lock after the time `since`. If that takes long, calls is_slow once with the
  // lock that is still waited for.
  work until_all_work(std::int64_t since, const std::function<void(const std::string&)>& is_slow = {});

  // Kills a worker that holds a lock; returns when.
  std::int64_t kill_holder(std::mt19937& random);
  // Stops a worker that holds a lock, for this time. Returns when it was stopped.
  std::int64_t stop_holder(std::mt19937& random, std::chrono::milliseconds time);

  // Ends all workers normally. Throws std::runtime_error if one does not end or ends with an error.
  void halt();
  // Kills all workers.
  void abandon();

 private:
  using member = std::unique_ptr<child_process>;
  member& some_holder(std::mt19937& random);
  bool holds(const member& one);

  load_settings settings_;
  const std::vector<site::place> places_;
  histories told_;
  std::vector<member> members_;
  std::uint64_t started_ = 0;
};

}  // namespace rowlock::test
