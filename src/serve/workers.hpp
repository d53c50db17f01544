// A few threads for calls that wait for the database, so that no thread of the HTTP server does.
#pragma once

#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace rowlock::serve {

// Any thread may call it.
class workers {
 public:
  workers(std::size_t threads, std::size_t most_waiting);
  ~workers();  // runs what is queued, and waits for it
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  // Queues the job; an exception ends it. False: too many jobs wait already, and this one is dropped.
  [[nodiscard]] bool post(std::function<void()> job);

 private:
  void run();
  void end();

  const std::size_t most_waiting_;
  model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_ ROWLOCK_GUARDED_BY(mutex_);
  bool is_over_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  // the last member, because the threads use the others
};

}  // namespace rowlock::serve
